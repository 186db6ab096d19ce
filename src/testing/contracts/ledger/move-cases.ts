import { ENTRY_MOVES, type EntryMove, type EntryStateOrAbsent } from '../../../server/entry/entry.ts'
import type { Claim, LedgerStore } from '../../../server/ledger/port.ts'
import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { answer, claimed, draft, EXPIRED, LAPSED, now, SCOPE, stateOf } from './sample-entry.ts'

const STATES: readonly EntryStateOrAbsent[] = ['absent', 'running', 'done', 'unknown']
const MOVES: readonly EntryMove[] = ['claimed', 'taken-over', 'recorded', 'released', 'abandoned']

/** A key in the given state, and the claim that brought it there. */
async function entryIn(store: LedgerStore, state: EntryStateOrAbsent, key: string): Promise<Claim> {
  const claim = await claimed(store, key, { ...LAPSED, ...(state === 'done' ? EXPIRED : {}) })
  if (state === 'absent') await store.release(claim)
  if (state === 'done') await store.complete(claim, answer(), now())
  if (state === 'unknown') await store.abandon(claim, now())
  return claim
}

/** Tries the move under that claim. Says whether the entry has moved. */
async function happens(store: LedgerStore, move: EntryMove, claim: Claim): Promise<boolean> {
  if (move === 'recorded') return store.complete(claim, answer(), now())
  if (move === 'released') return store.release(claim)
  if (move === 'abandoned') return store.abandon(claim, now())
  const entry = await store.find(SCOPE, claim.key)
  if (!entry) return move === 'claimed' && (await store.insert(draft(claim.key))).kind === 'inserted'
  // From `done` a takeover is a new claim, with attempt 1.
  const taken = await store.takeOver(entry, draft(claim.key))
  return taken !== undefined && (taken.attempt === 1 ? 'claimed' : 'taken-over') === move
}

/** The store against the state machine, every move in every state. */
export const moveCases: Record<string, LedgerCase> = Object.fromEntries(
  STATES.flatMap((state) =>
    MOVES.map((move): [string, LedgerCase] => {
      const next = ENTRY_MOVES[state][move]
      const title = next === undefined ? 'changes nothing' : `makes it ${next}`
      return [
        `moves: an entry that is ${state}, ${move}: ${title}`,
        async ({ store }) => {
          const claim = await entryIn(store, state, 'a')
          expectSame(await happens(store, move, claim), next !== undefined, 'whether it moves')
          if (next !== undefined) expectSame(await stateOf(store, 'a'), next, 'the state')
        },
      ]
    }),
  ),
)

import { ENTRY_MOVES, type EntryEvent, type EntryStateOrAbsent } from '../../../server/entry/entry.ts'
import type { Claim, LedgerStore } from '../../../server/ledger/port.ts'
import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { answer, claimed, draft, EXPIRED, LAPSED, now, SCOPE, stateOf } from './sample-entry.ts'

const STATES: readonly EntryStateOrAbsent[] = ['absent', 'running', 'done', 'unknown']
const EVENTS: readonly EntryEvent[] = ['claimed', 'taken-over', 'recorded', 'released', 'abandoned']

/** A key in the given state, and the claim that brought it there. */
async function entryIn(store: LedgerStore, state: EntryStateOrAbsent, key: string): Promise<Claim> {
  const claim = await claimed(store, key, { ...LAPSED, ...(state === 'done' ? EXPIRED : {}) })
  if (state === 'absent') await store.release(claim)
  if (state === 'done') await store.complete(claim, answer(), now())
  if (state === 'unknown') await store.abandon(claim, now())
  return claim
}

/** Tries the event under that claim. Says whether the entry has moved. */
async function happens(store: LedgerStore, event: EntryEvent, claim: Claim): Promise<boolean> {
  if (event === 'recorded') return store.complete(claim, answer(), now())
  if (event === 'released') return store.release(claim)
  if (event === 'abandoned') return store.abandon(claim, now())
  const entry = await store.find(SCOPE, claim.key)
  if (!entry) return event === 'claimed' && (await store.insert(draft(claim.key))).kind === 'inserted'
  // From `done` a takeover is a new claim, with attempt 1.
  const taken = await store.takeOver(entry, draft(claim.key))
  return taken !== undefined && (taken.attempt === 1 ? 'claimed' : 'taken-over') === event
}

/** The store against the state machine, every event in every state. */
export const moveCases: Record<string, LedgerCase> = Object.fromEntries(
  STATES.flatMap((state) =>
    EVENTS.map((event): [string, LedgerCase] => {
      const next = ENTRY_MOVES[state][event]
      const title = next === undefined ? 'changes nothing' : `makes it ${next}`
      return [
        `moves: an entry that is ${state}, ${event}: ${title}`,
        async ({ store }) => {
          const claim = await entryIn(store, state, 'a')
          expectSame(await happens(store, event, claim), next !== undefined, 'whether it moves')
          if (next !== undefined) expectSame(await stateOf(store, 'a'), next, 'the state')
        },
      ]
    }),
  ),
)

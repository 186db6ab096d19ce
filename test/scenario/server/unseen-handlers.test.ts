import { describe, expect, it } from 'vitest'
import { guardOf } from '../../../src/server/guard/begin.ts'
import type { Session } from '../../../src/server/guard/session.ts'
import type { Answer, Inbound } from '../../../src/server/http/port.ts'
import { createLedger, json, type LedgerEvent, memoryLedger } from '../../../src/server/index.ts'
import { type ManualClock, manualClock } from '../../../src/testing/manual-clock.ts'

const LEASE_MS = 60_000
const DONE: Answer = { status: 201, headers: [], body: new TextEncoder().encode('done') }
const TIMEOUT: Answer = { status: 504, headers: [], body: null }

const INBOUND: Inbound = {
  native: {},
  method: 'POST',
  path: '/orders',
  query: '',
  headers: [['idempotency-key', 'k']],
  body: () => null,
}

interface Scene {
  readonly clock: ManualClock
  readonly events: LedgerEvent['type'][]
  readonly session: Session
  readonly answer: (late: Answer | undefined) => void
  inFlight(): Promise<number>
  state(): Promise<string>
  /** What another request under the key gets: the status of a refusal, or the attempt that it may run. */
  retry(): Promise<string>
}

/** A handler that nobody sees was answered for by a timeout. */
async function timedOut(external = false): Promise<Scene> {
  const clock = manualClock()
  const events: LedgerEvent['type'][] = []
  const observe = ({ type }: LedgerEvent): void => void events.push(type)
  const ledger = createLedger({ store: memoryLedger(), scope: 'public', clock, observe, external, lease: LEASE_MS })
  const guard = guardOf(ledger as never)
  const begun = await guard.begin(INBOUND)
  if (begun.kind !== 'run') throw new Error('the first request runs')
  const { session } = begun
  let answer: Scene['answer'] = () => {}
  const unseen = new Promise<Answer | undefined>((resolve) => {
    answer = resolve
  })
  expect((await session.fail(new Error('too late'), { answer: TIMEOUT, unseen }))?.headers).toEqual([
    ['idempotency-retention', '86400'],
  ])
  return {
    clock,
    events,
    session,
    answer,
    inFlight: async () => (await ledger.metrics()).inFlight,
    state: async () => (await ledger.find('public', 'k'))?.state ?? 'absent',
    retry: async () => {
      const again = await guard.begin(INBOUND)
      return again.kind === 'run' ? `attempt ${again.session.context.attempt}` : String(again.answer.status)
    },
  }
}

describe('a handler that nobody sees, after the answer of a timeout', () => {
  it('keeps its key, and what it answers within a lease is recorded', async () => {
    const at = await timedOut()
    await at.clock.advance(LEASE_MS - 1)
    expect([await at.retry(), await at.state()]).toEqual(['409', 'running'])
    at.answer(DONE)
    await at.clock.advance(0)
    expect([await at.state(), await at.retry(), at.clock.pending(), await at.inFlight()]).toEqual(['done', '201', 0, 0])
  })

  it('frees its key as soon as it fails', async () => {
    const at = await timedOut()
    at.answer(undefined)
    await at.clock.advance(0)
    expect([await at.state(), at.clock.pending()]).toEqual(['absent', 0])
  })

  it('is not waited for after one lease: then its lease lapses, its signal aborts, and a retry runs', async () => {
    const at = await timedOut()
    await at.clock.advance(LEASE_MS)
    expect([await at.retry(), at.session.context.signal.aborted]).toEqual(['409', false])
    await at.clock.advance(LEASE_MS)
    expect([at.session.context.signal.aborted, at.events.at(-1), at.clock.pending()]).toEqual([true, 'claim.lost', 0])
    expect([await at.inFlight(), await at.retry()]).toEqual([0, 'attempt 2'])
    at.answer(DONE)
    await at.clock.advance(0)
    expect(await at.state()).toBe('running')
  })

  it('is recorded while its lease has not lapsed yet', async () => {
    const at = await timedOut()
    await at.clock.advance(LEASE_MS + 1)
    at.answer(DONE)
    await at.clock.advance(0)
    expect([await at.state(), at.events.at(-1), at.clock.pending()]).toEqual(['done', 'entry.recorded', 0])
  })

  it('is recorded if it commits an effect, and sends nothing more', async () => {
    const at = await timedOut()
    await at.session.context.effect(() => json({ did: 1 }, { status: 201 }))
    await at.clock.advance(3 * LEASE_MS)
    expect([await at.state(), at.events.includes('claim.lost')]).toEqual(['done', false])
    expect([at.clock.pending(), await at.inFlight()]).toEqual([0, 0])
  })

  it('leaves its outcome unknown if it is external', async () => {
    const at = await timedOut(true)
    await at.clock.advance(2 * LEASE_MS)
    expect([await at.retry(), await at.state()]).toEqual(['409', 'unknown'])
  })
})

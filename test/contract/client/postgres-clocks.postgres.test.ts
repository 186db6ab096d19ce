import { describe, expect, it } from 'vitest'
import type { JournalRow } from '../../../src/client/journal/port.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { createClient } from '../../../src/index.ts'
import {
  claimByKey,
  claimCommand,
  list,
  renew,
  row,
  surveyCommand,
} from '../../../src/testing/contracts/journal/sample-row.ts'
import { ask, journalScene } from '../../support/postgres-journal.ts'
import { deferred } from '../../support/postgres-ledger.ts'

const scene = journalScene()

const MINUTE = 60_000
const LEASE = 30_000
const AHEAD = 7 * MINUTE
const BEHIND = -9 * MINUTE
/** How long a round trip may take on a busy machine. */
const SLACK = 5000

let count = 0

/** A replica whose clock is off by so much. */
function replica(skew: number) {
  const journal = scene.journal()
  const now = (): number => Date.now() + skew
  const append = (key: string, more: (at: number) => Partial<JournalRow> = () => ({})) =>
    ask(journal, { do: 'append', row: row(key, more(now())) }, now())
  const claim = (key: string, owner: string) =>
    ask(journal, claimByKey(key, { owner, now: now(), leaseUntil: now() + LEASE }), now())
  const read = async (key: string) => {
    const found = await ask(journal, { do: 'read', namespace: 'contract', keyOrId: key }, now())
    if (!found) throw new Error(`There is no row ${key}`)
    return found
  }
  return { journal, now, append, claim, read }
}

const newKey = (): string => `key-${++count}`

describe.each([
  ['a clock that is ahead', AHEAD, 0],
  ['a clock that is behind', BEHIND, 0],
  ['the right clock, beside one that is ahead', 0, AHEAD],
  ['the right clock, beside one that is behind', 0, BEHIND],
  ['a clock that is ahead, beside one that is behind', AHEAD, BEHIND],
  ['a clock that is behind, beside one that is ahead', BEHIND, AHEAD],
])('%s', (_, skew, otherSkew) => {
  const one = () => replica(skew)
  const other = () => replica(otherSkew)

  it('has a lease that no other replica takes before its time, and each after it', async () => {
    const [here, there, key] = [one(), other(), newKey()]
    await here.append(key, (at) => ({ owner: 'one', epoch: 1, leaseUntil: at + LEASE }))
    expect(await there.claim(key, 'two')).toEqual([])
    const { leaseUntil } = await there.read(key)
    expect(leaseUntil - there.now()).toBeGreaterThan(LEASE - SLACK)
    expect(leaseUntil - there.now()).toBeLessThanOrEqual(LEASE)
    await ask(here.journal, renew(key, here.now(), { owner: 'one' }), here.now())
    const [taken] = await there.claim(key, 'two')
    expect(taken).toMatchObject({ owner: 'two', epoch: 2, previousOwner: 'one' })
    expect(Math.abs((taken?.leaseUntil ?? 0) - there.now() - LEASE)).toBeLessThan(SLACK)
    expect(await here.claim(key, 'one')).toEqual([])
  })

  it('names due times and asked-for times that mean the same to every replica', async () => {
    const [here, there, namespace] = [one(), other(), newKey()]
    await here.append('soon', (at) => ({ namespace, dueAt: at + LEASE }))
    await here.append('asked', (at) => ({ namespace, notBefore: at + LEASE / 2 }))
    const now = there.now()
    const survey = await ask(there.journal, { ...surveyCommand(), namespace, now }, now)
    expect(Math.abs((survey.nextDueAt ?? 0) - now - LEASE / 2)).toBeLessThan(SLACK)
    const claim = (at: number) => ask(there.journal, claimCommand({ namespace, now: at, dueBy: at }), now)
    expect(await claim(now)).toEqual([])
    const later = now + LEASE + SLACK
    expect((await claim(later)).map(({ key }) => key)).toEqual(['soon', 'asked'])
  })

  it('keeps what is settled for as long as it said, and prunes nothing of others before its time', async () => {
    const [here, there, key] = [one(), other(), newKey()]
    await here.append(key, (at) => ({ status: 'succeeded', expiresAt: at + MINUTE }))
    const prune = (now: number) => ask(there.journal, { do: 'drop', expiredBy: now, limit: 100 }, there.now())
    await prune(there.now())
    expect((await there.read(key)).expiresAt).toBeLessThanOrEqual(there.now() + MINUTE)
    await prune(there.now() + MINUTE + SLACK)
    expect(await ask(there.journal, list({ status: 'succeeded' }))).toEqual([])
  })

  it('leaves a running operation to the client that runs it, and its settlement is read by the other', async () => {
    const namespace = newKey()
    const client = (off: number) =>
      createClient({
        journal: scene.journal(),
        namespace,
        baseUrl: 'http://127.0.0.1:1',
        clock: { ...systemClock, now: () => Date.now() + off },
        fetch: () => answer.promise.then(() => new Response('done')),
      })
    const answer = deferred<void>()
    const [here, there] = [client(skew), client(otherSkew)]
    const call = here.post('/charges', { body: 'x', id: 'order:1' })
    await call.accepted
    expect(await there.resume()).toMatchObject({ claimed: 0 })
    const followed = there.post('/charges', { body: 'x', id: 'order:1' })
    await followed.accepted
    answer.resolve()
    expect(await (await followed).text()).toBe('done')
    expect((await there.operation('order:1'))?.attempts).toBe(1)
    await Promise.all([call, here.close(), there.close()])
  })
})

it('takes times as they are where no clock is given', async () => {
  const journal = scene.journal()
  const key = newKey()
  await ask(journal, { do: 'append', row: row(key, { owner: 'me', leaseUntil: 5000, dueAt: 77 }) })
  const [found] = [await ask(journal, { do: 'read', namespace: 'contract', keyOrId: key })]
  expect(found).toMatchObject({ leaseUntil: 5000, dueAt: 77, notBefore: 0 })
})

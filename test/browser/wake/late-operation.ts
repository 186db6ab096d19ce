import { expect } from 'vitest'
import type { CountingApi } from '../support/counting-api.ts'
import type { PageClient, Tab } from '../support/tab.ts'

/** After so many runs in vain the next is at least a minute away. */
const RUNS_IN_VAIN = 7

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A client that keeps resuming, and has one operation, for which no run is due for a minute. */
export async function withLateOperation(tab: Tab, api: CountingApi): Promise<PageClient> {
  const patient = { onGiveUp: 'keep', retry: false, budget: false, breaker: false } as const
  const client = await tab.createClient({ baseUrl: api.origin, ...patient })
  api.otherwise('unavailable')
  await (await client.post('/charges', { json: { amount: 5 } })).outcome()
  for (let runs = 0; runs < RUNS_IN_VAIN; runs++) expect(await client.resume()).toMatchObject({ pending: 1 })
  api.otherwise('answer')
  await tab.ask('keepResuming', client.number)
  // It has looked more than once and left it alone.
  await pause(1500)
  expect(api).toMatchObject({ requests: 1 + RUNS_IN_VAIN, effects: 0 })
  return client
}

/** Sent because of what happens now, and once; not when it would have been due. */
export async function expectSentBy(event: () => Promise<unknown>, api: CountingApi): Promise<void> {
  const before = api.requests
  expect(api.effects).toBe(0)
  await event()
  const late = pause(10_000).then(() => Promise.reject(new Error('Nothing was sent within ten seconds')))
  await Promise.race([api.until(({ effects }) => effects === 1), late])
  expect(api.requests).toBe(before + 1)
}

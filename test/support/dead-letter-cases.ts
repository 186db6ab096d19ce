import { expect, it } from 'vitest'
import type { Journal, PlacedRow } from '../../src/client/journal/port.ts'
import type { Client, DeadLetter, DeadLettersQuery } from '../../src/index.ts'
import { leaveKept } from './held-journal.ts'
import { type Neighbourhood, neighbourhood, outcome } from './shared-clients.ts'

async function idsOf(client: Client, query?: DeadLettersQuery): Promise<string[]> {
  return (await all(client, query)).map(({ id }) => id ?? '')
}

async function all(client: Client, query?: DeadLettersQuery): Promise<DeadLetter[]> {
  const found: DeadLetter[] = []
  for await (const one of client.deadLetters(query)) found.push(one)
  return found
}

/** As if five runners had died with it. */
async function wearOut({ disk, clock }: Neighbourhood, key: string): Promise<void> {
  const now = clock.now()
  const claim = { do: 'claim', namespace: 'default', owner: 'x', now, leaseUntil: now + 1000 } as const
  const [rows] = await disk.execute([{ ...claim, deadOwners: [], key, statuses: ['pending'] }], now)
  const [row] = rows as PlacedRow[]
  if (!row) throw new Error('It is not there')
  const head = JSON.stringify({ ...JSON.parse(row.head), deaths: 5 })
  const { namespace, epoch } = row
  const change = { ...row, owner: null, leaseUntil: 0, dueAt: 0, head }
  await disk.execute([{ do: 'write', namespace, key, owner: 'x', epoch, change }], now)
}

/** One operation of every kind, in this order. */
async function filled(disk: Journal): Promise<{ readonly place: Neighbourhood; readonly client: Client }> {
  const place = neighbourhood(disk)
  const client = place.client({ retry: false, breaker: false })
  const kept = place.client({ retry: false, onGiveUp: 'keep', breaker: false })
  const post = (id: string, by: Client = client): Promise<unknown> => outcome(by.post('/charges', { body: id, id }))
  place.server.weather = ({ text }) =>
    text === 'rejected' ? { status: 404 } : text === 'succeeded' ? 'fine' : { status: 503 }
  await post('rejected')
  await outcome(kept.post('/charges', { body: 'auth', id: 'auth', headers: { authorization: 'Bearer secret' } }))
  await post('succeeded')
  const poison = await leaveKept(place, 'poison')
  await wearOut(place, poison)
  await client.resume()
  await post('failed')
  await post('cancelled', kept)
  await client.cancel('cancelled')
  await post('expired', place.client({ retry: false, onGiveUp: 'keep', horizon: 1000, breaker: false }))
  await place.clock.advance(2000)
  await client.resume()
  await post('pending', kept)
  place.server.weather = () => 'fine'
  return { place, client }
}

/** What `deadLetters` promises, on any journal. */
export function deadLetterCases(open: () => Journal): void {
  it('lists what is parked, rejected, failed and expired, oldest first, each with its reason and its end', async () => {
    const { place, client } = await filled(open())
    const found = await all(client)
    const shown = found.map(({ id, status, reason, effect, attempts, lastStatus }) => {
      return [id, status, reason, effect, attempts, lastStatus]
    })
    expect(shown).toEqual([
      ['rejected', 'rejected', 'status', 'none', 1, 404],
      ['auth', 'pending', 'auth', 'unknown', 1, 503],
      ['poison', 'pending', 'poison', 'none', 1, undefined],
      ['failed', 'failed', 'attempts', 'unknown', 1, 503],
      ['expired', 'expired', 'horizon', 'unknown', 1, 503],
    ])
    const poison = found[2]
    expect(poison).toMatchObject({ lastError: 'ECONNREFUSED', keptUntil: undefined })
    // By the clock of the database, where there is one.
    const keptForMs = (found[0]?.keptUntil ?? 0) - (found[0]?.acceptedAt ?? 0)
    expect(Math.abs(keptForMs - 86_400_000)).toBeLessThan(60_000)
    expect(found.every(({ acceptedAt }) => acceptedAt <= place.clock.now())).toBe(true)
  })

  it('takes a limit, and goes on behind a key or an id', async () => {
    const { client } = await filled(open())
    expect(await idsOf(client, { limit: 2 })).toEqual(['rejected', 'auth'])
    expect(await idsOf(client, { limit: 2, after: 'auth' })).toEqual(['poison', 'failed'])
    const key = (await client.operation('failed'))?.key ?? ''
    expect(await idsOf(client, { after: key })).toEqual(['expired'])
    expect(await idsOf(client, { after: 'expired' })).toEqual([])
    expect(await idsOf(client, { limit: 0 })).toEqual([])
  })

  it('is worked off: a retry that succeeds and a cancel take an operation off it, a verdict stays', async () => {
    const { client } = await filled(open())
    expect((await client.retry('failed')).status).toBe(201)
    expect((await client.retry('poison')).status).toBe(201)
    expect(await client.cancel('auth')).toBe(true)
    expect((await outcome(client.retry('rejected'))).error).toMatchObject({ name: 'RejectedError' })
    expect((await outcome(client.retry('expired'))).error).toMatchObject({ reason: 'horizon' })
    expect(await client.cancel('rejected')).toBe(false)
    expect(await idsOf(client)).toEqual(['rejected', 'expired'])
  })
}

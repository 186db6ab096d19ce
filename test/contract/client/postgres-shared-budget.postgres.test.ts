import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { type Client, type ClientOptions, createClient } from '../../../src/index.ts'
import { postgresJournal } from '../../../src/postgres/index.ts'
import { journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()

/** Every retry is paid for by the burst: neither time nor a success brings another. */
const BURST_ONLY = { burst: 6, ratio: 0, reservePerSecond: 0 } as const
const CALLS = 15

interface Server {
  readonly origin: string
  readonly fetch: NonNullable<ClientOptions['fetch']>
  /** That have arrived. */
  requests: number
  down: boolean
}

let servers = 0

/** An origin of its own, since all tests are on one journal. */
function server(): Server {
  const one: Server = {
    origin: `https://${++servers}.test`,
    requests: 0,
    down: true,
    fetch: async () => {
      one.requests++
      return new Response(null, { status: one.down ? 503 : 200 })
    },
  }
  return one
}

interface FleetOptions extends ClientOptions {
  readonly schema?: string
  readonly sharedBudget?: boolean
}

/** A process of its own, as far as the journal can tell: another pool, and a clock of its own. */
function replica(one: Server, { schema = scene.schema, sharedBudget = true, ...options }: FleetOptions = {}): Client {
  const journal = scene.journalWith({ pool: scene.pool({ max: 3 }), schema, sharedBudget })
  const retry = { base: 1, cap: 2 }
  const { origin: baseUrl, fetch } = one
  return createClient({ baseUrl, fetch, journal, retry, breaker: false, budget: BURST_ONLY, ...options })
}

const skewed = (ms: number): ClientOptions['clock'] => ({ now: () => Date.now() + ms, sleep: systemClock.sleep })

/** Opened: a client that opens a journal later takes over the level that another has left there. */
async function fleetOf(server: Server, options?: FleetOptions): Promise<[Client, Client, Client]> {
  const off = (ms: number): Client => replica(server, { ...options, clock: skewed(ms) })
  const clients: [Client, Client, Client] = [off(0), off(120_000), off(-120_000)]
  await Promise.all(clients.map((client) => client.operation('none')))
  return clients
}

const post = (client: Client): Promise<unknown> => Promise.resolve(client.post('/a')).catch((error: unknown) => error)
const get = (client: Client): Promise<unknown> => Promise.resolve(client.get('/a')).catch((error: unknown) => error)

/** Calls of all clients at once; resolves with the retries that they made. */
async function retriesOf(clients: readonly Client[], server: Server): Promise<number> {
  const before = server.requests
  await Promise.all(clients.flatMap((client) => Array.from({ length: CALLS }, () => post(client))))
  return server.requests - before - clients.length * CALLS
}

/** What its row has; undefined where there is none. */
async function levelOf({ origin }: Server): Promise<number | undefined> {
  const text = `SELECT tokens FROM ${scene.schema}.holdfast_budgets WHERE origin = $1`
  return (await scene.query<{ tokens: number }>(text, [origin]))[0]?.tokens
}

describe('clients with a shared budget', () => {
  it('spend one burst in an outage, all together, whatever their clocks say', async () => {
    const one = server()
    const clients = await fleetOf(one)
    expect(await retriesOf(clients, one)).toBe(BURST_ONLY.burst)
    expect(await retriesOf(clients, one)).toBe(0)
    expect(await levelOf(one)).toBe(0)
  })

  it('spend a burst each where they do not share it', async () => {
    const one = server()
    expect(await retriesOf(await fleetOf(one, { sharedBudget: false }), one)).toBe(3 * BURST_ONLY.burst)
    expect(await levelOf(one)).toBeUndefined()
  })

  it('are refused with reason budget, and say that it is exhausted', async () => {
    const [one, events] = [server(), [] as string[]]
    const [first, second] = await fleetOf(one, { observe: ({ type }) => void events.push(type) })
    await retriesOf([first], one)
    events.length = 0
    expect(await post(second)).toMatchObject({ reason: 'budget', attempts: [{ status: 503 }] })
    expect(events).toContain('budget.exhausted')
    // Nor has it any for operations that it resumes.
    expect(second.budget(one.origin)).toBe(0)
  })

  it('do not starve another origin', async () => {
    const [one, other] = [server(), server()]
    await retriesOf([replica(one)], one)
    expect(await retriesOf([replica(other)], other)).toBe(BURST_ONLY.burst)
  })

  it('share it for requests that are not journaled, before the journal is open', async () => {
    const one = server()
    const clients = [replica(one), replica(one)]
    await Promise.all(clients.flatMap((client) => Array.from({ length: CALLS }, () => get(client))))
    expect(one.requests).toBe(2 * CALLS + BURST_ONLY.burst)
  })

  it('have what their successes earn, and each no more than its own would allow', async () => {
    const one = server()
    // Where a success may bring a token, a retry waits for it until the deadline: long enough for those that have one.
    const [busy, other] = await fleetOf(one, { budget: { ...BURST_ONLY, ratio: 1 }, deadline: '10s' })
    const poor = replica(one, { budget: { burst: 0 } })
    await poor.operation('none')
    await retriesOf([busy], one)
    one.down = false
    for (let call = 0; call < 4; call++) await post(busy)
    await expect.poll(() => levelOf(one)).toBe(4)
    one.down = true
    expect(await retriesOf([poor], one)).toBe(0)
    expect(await retriesOf([other], one)).toBe(4)
  })

  it('ask nothing and write nothing while the server is well', async () => {
    const one = server()
    one.down = false
    await retriesOf(await fleetOf(one), one)
    expect(await levelOf(one)).toBeUndefined()
  })

  it('keep to their own budgets where the database cannot be asked', async () => {
    const [one, schema] = [server(), scene.newSchema()]
    const clients = await fleetOf(one, { schema })
    await scene.query(`DROP TABLE ${schema}.holdfast_budgets`)
    expect(await retriesOf(clients, one)).toBe(3 * BURST_ONLY.burst)
  })
})

describe('the row of an origin', () => {
  const OWN = { tokens: 3, burst: 10, rest: 2, reservePerSecond: 1 }
  const sharing = () => scene.journalWith({ pool: scene.pool(), schema: scene.schema, sharedBudget: true })
  const change = ({ origin }: Server, what: string) =>
    scene.query(`UPDATE ${scene.schema}.holdfast_budgets SET ${what} WHERE origin = $1`, [origin])

  it('goes up to rest with time, by the clock of the database, and never down', async () => {
    const [one, { sharedBudget }] = [server(), sharing()]
    const grantedOf = async (times: number): Promise<number> => {
      const asked = Array.from({ length: times }, () => sharedBudget?.take(one.origin, OWN))
      return (await Promise.all(asked)).filter(Boolean).length
    }
    expect(await grantedOf(4)).toBe(3)
    await change(one, 'at = at - 1000')
    expect(await grantedOf(4)).toBe(1)
    await change(one, 'at = at - 600000')
    expect(await grantedOf(4)).toBe(2)
    await change(one, 'tokens = 7, at = at - 200000')
    expect(await grantedOf(9)).toBe(7)
  })

  it('that is not answered for a second is not waited for any longer', async () => {
    const [one, journal] = [server(), sharing()]
    await journal.sharedBudget?.take(one.origin, { ...OWN, tokens: 1 })
    const hung = await scene.pool().connect()
    await hung.query('BEGIN')
    await hung.query(`SELECT FROM ${scene.schema}.holdfast_budgets WHERE origin = $1 FOR UPDATE`, [one.origin])
    expect(await journal.sharedBudget?.take(one.origin, OWN)).toBe(true)
    await hung.query('ROLLBACK')
    hung.release()
    expect(await journal.sharedBudget?.take(one.origin, OWN)).toBe(false)
  })

  it('that was left alone for five minutes is deleted when a process has its first retry', async () => {
    const [one, other] = [server(), server()]
    await sharing().sharedBudget?.take(one.origin, OWN)
    await sharing().sharedBudget?.take(other.origin, OWN)
    expect(await levelOf(one)).toBe(2)
    await change(one, 'at = at - 301000')
    await sharing().sharedBudget?.take(other.origin, OWN)
    await expect.poll(() => levelOf(one)).toBeUndefined()
    expect(await levelOf(other)).toBe(1)
  })
})

it('sharedBudget is true or false', () => {
  const given = { connectionString: scene.url, sharedBudget: 'yes' as never }
  expect(() => postgresJournal(given)).toThrow('The option `sharedBudget` of postgresJournal() is true or false')
})

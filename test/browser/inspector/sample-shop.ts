import { newGateState } from '../../../src/client/gate/gate-state.ts'
import type { OriginStates } from '../../../src/client/gate/retry-budget.ts'
import type { Journal } from '../../../src/client/journal/port.ts'
import type * as Holdfast from '../../../src/index.ts'
import type * as InspectorDoor from '../../../src/inspector/index.ts'
import type * as Server from '../../../src/server/index.ts'
import { fill, type Sample, sampleRecord } from './sample-records.ts'

/** The package as it is tested, from its sources or from its build. */
export type Doors = Pick<typeof Holdfast, 'createClient' | 'createRetryBudget' | 'memoryJournal'> &
  Pick<typeof Server, 'createLedger' | 'json' | 'memoryLedger'> &
  Pick<typeof InspectorDoor, 'startInspector'>

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** One of each kind, oldest first: what a shop has on record on a day with some trouble. */
const SAMPLES = (now: number): readonly Sample[] => [
  {
    key: '0b6a3c1e-5f0a-4f6e-9d86-2a4f3f0d9a11',
    ageMs: 9 * HOUR,
    path: '/webhooks',
    origin: 'https://hooks.partner.example',
    attempts: [[0, 10_000, 'attempt-timeout']],
    more: { status: 'expired', reason: 'horizon', effect: 'unknown' },
  },
  {
    key: '3a1d8a35-64e1-4b0c-8f3c-7b7f3f1f2a22',
    ageMs: 3 * HOUR,
    name: 'refund',
    id: 'order:1038:refund',
    path: '/refunds',
    attempts: [
      [20, 310, 503],
      [900, 290, 503],
    ],
    more: {
      status: 'failed',
      reason: 'budget',
      effect: 'unknown',
      error: { detail: 'status 503', retryAt: undefined },
    },
  },
  {
    key: '51c60f3d-9a0e-4d3b-8b21-0c1a4a9c3b33',
    ageMs: 2 * HOUR,
    name: 'receipt',
    path: '/messages',
    origin: 'https://mail.example.net',
    attempts: [[15, 42, 401]],
    more: { heldBy: 'auth' },
  },
  {
    key: '6c9f2f7e-0c1b-4a53-9f0d-5d7c2b8e4c44',
    ageMs: 40 * MINUTE,
    name: 'charge',
    id: 'order:1041:charge',
    body: { amount: -5 },
    attempts: [[12, 95, 422]],
    answer: { type: 'about:blank', title: 'Amount must be positive', status: 422 },
    more: { status: 'rejected', reason: 'status', effect: 'none' },
  },
  {
    key: '7d2b9e6a-3f55-4f0e-8a77-9e1f6d3a5d55',
    ageMs: 12 * MINUTE,
    name: 'export',
    path: '/exports',
    more: { status: 'cancelled', reason: 'aborted', effect: 'none' },
  },
  {
    key: '8e3f0a7b-1d22-4c1f-9b66-0f2a7e4b6e66',
    ageMs: 4 * MINUTE,
    name: 'receipt',
    path: '/messages',
    origin: 'https://mail.example.net',
    attempts: [
      [30, 2400, 'ECONNRESET'],
      [4100, 10_000, 'attempt-timeout'],
      [31_000, 180, 503],
      [96_000, 210, 503],
    ],
    more: { effect: 'unknown', heldBy: 'breaker', dueAt: now + 74 * SECOND, fruitlessRuns: 2 },
  },
  {
    key: '9f4a1b8c-7e33-4d2a-8c55-1a3b8f5c7f77',
    ageMs: 90 * SECOND,
    name: 'charge',
    id: 'order:1043:charge',
    body: { amount: 12_900, card: { cardNumber: '4242424242424242', cvc: '123' }, apiToken: 'tok_hidden' },
    attempts: [
      [18, 1210, 503],
      [1900, 2300, 'ECONNRESET'],
      [6400, 640, 201],
    ],
    answer: { id: 'ch_1043', status: 'created', clientSecret: 'cs_hidden' },
    more: { status: 'succeeded', effect: 'applied', metadata: { order: 1043, basket: ['beans', 'tea'] } },
  },
  {
    key: 'a05b2c9d-8f44-4e3b-9d44-2b4c906d8088',
    ageMs: 22 * SECOND,
    name: 'charge',
    id: 'order:1044:charge',
    attempts: [[14, 130, 201]],
    answer: { id: 'ch_1044', status: 'created' },
    more: { status: 'succeeded', effect: 'applied' },
  },
  {
    key: 'b16c3dae-9055-4f4c-8e33-3c5da17e9199',
    ageMs: 3 * SECOND,
    name: 'charge',
    id: 'order:1045:charge',
    attempts: [[10, 400, 502]],
    more: {
      effect: 'unknown',
      inFlightSince: now - SECOND,
      lease: { owner: 'another-runner', epoch: 1, until: now + 25 * SECOND },
    },
  },
]

export interface SampleShop {
  readonly client: Holdfast.Client
  readonly inspector: InspectorDoor.Inspector
  readonly ledger: Pick<Server.Ledger, 'close' | 'find'>
  /** What the client sent: method, path and key. */
  readonly sent: readonly string[]
  close(): Promise<void>
}

/** A client and a ledger with something of everything, and the inspector beside them. */
export async function startShop(doors: Doors, options: InspectorDoor.InspectorOptions = {}): Promise<SampleShop> {
  const now = Date.now()
  const journal = doors.memoryJournal()
  await fill(
    journal,
    SAMPLES(now).map((sample) => sampleRecord(sample, now)),
  )
  const sent: string[] = []
  const client = clientOf(doors, journal, sent)
  const ledger = await sampleLedger(doors)
  const inspector = await doors.startInspector({ client, ledger, ...options })
  const close = async (): Promise<void> => {
    await inspector.close()
    await Promise.all([client.close(), ledger.close()])
  }
  return { client, inspector, ledger, sent, close }
}

export function clientOf(doors: Doors, journal: Journal, sent: string[] = []): Holdfast.Client {
  const now = Date.now()
  const budget = doors.createRetryBudget() as OriginStates
  const fresh = newGateState({ budget: budget.limits, breaker: { openAfterMs: 5000, openForMs: 2000 } }, now)
  const well = { ...fresh, tokens: 9.3, succeededAt: now - 22_000, usualMs: 130, answers: 40 }
  budget.set('https://api.example.com', well)
  budget.set('https://hooks.partner.example', { ...well, tokens: 2, succeededAt: now - 9 * HOUR, failures: 1 })
  const failing = {
    failures: 14,
    failedAt: now - 240_000,
    triedAt: now - 5 * SECOND,
    succeededAt: now - 250_000,
    probeAt: now + 74 * SECOND,
  }
  budget.set('https://mail.example.net', { ...well, ...failing, tokens: 0.4 })
  return doors.createClient({
    journal,
    budget,
    baseUrl: 'https://api.example.com',
    trustedOrigins: ['https://mail.example.net'],
    headers: { authorization: 'Bearer test' },
    fetch: async (input, init) => {
      const request = new Request(input, init)
      sent.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get('idempotency-key')}`)
      return Response.json({ status: 'created' }, { status: 201 })
    },
  })
}

async function sampleLedger({ createLedger, json, memoryLedger }: Doors) {
  const ledger = createLedger({ store: memoryLedger(), scope: 'shop-7' })
  const send = (path: string, key: string): Request =>
    new Request(`https://shop.example${path}`, { method: 'POST', body: '{}', headers: { 'idempotency-key': key } })
  const charge = ledger.protect(async () => json({ id: 'ch_1', secret: 'hidden' }, { status: 201 }))
  for (const number of [1041, 1043, 1044]) await charge(send('/charges', `order:${number}:charge`))
  const fail = ledger.protect(
    async () => {
      throw new Error('The connection to the bank was lost')
    },
    { external: true },
  )
  await fail(send('/transfers', 'transfer:77')).catch(() => {})
  void ledger.protect(() => new Promise(() => {}))(send('/charges', 'order:1045:charge'))
  return ledger
}

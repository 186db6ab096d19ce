/** One replica of the server's half: a shop with a ledger, made to be killed. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, json as readJson } from 'node:stream/consumers'
import { HoldfastError } from '../../src/errors/holdfast-error.ts'
import { guardOf } from '../../src/server/guard/begin.ts'
import { nodeHandler } from '../../src/server/http/node/node-handler.ts'
import {
  createLedger,
  type IdempotencyContext,
  type LedgerEvent,
  type ProtectOptions,
  type Reply,
} from '../../src/server/index.ts'
import { inputOf, onOrder, say } from '../support/child-voice.ts'
import { Blink, faultyLedger, LateAnswers } from '../support/faulty-store.ts'
import { impatient } from './impatient-framework.ts'
import { openShopStore, type REPLICAS, type StoreAddress } from './shop-store.ts'
import { ShopWork, type StopPoint } from './shop-work.ts'

export interface ShopInput {
  readonly store: StoreAddress
  readonly provider: string
  /** How requests reach the ledger. */
  readonly adapter: (typeof REPLICAS)[number]
  readonly leaseMs: number
  readonly stopAt?: StopPoint | undefined
}

/** Short, so that an answer of the store is soon a late one. */
const STORE_TIMEOUT_MS = 700

const input = inputOf<ShopInput>()
const store = await openShopStore(input.store)
const work = new ShopWork(store, input.provider, input.stopAt)
const blink = new Blink(() => say('ledger blink'))
const late = new LateAnswers(STORE_TIMEOUT_MS, () => say('late store answer'))
onOrder('blink', (ms) => blink.begin(Number(ms)))
onOrder('late', (ms) => late.begin(Number(ms)))
onOrder('fill', (ms) => store.fill?.(Number(ms)))
onOrder('exhaust', (ms) => void store.exhaust?.(Number(ms)).then(() => say('pool exhausted')))
const terms = {
  store: faultyLedger(faultyLedger(store.ledger, blink), late),
  scope: 'public',
  lease: input.leaseMs,
  storeTimeout: STORE_TIMEOUT_MS,
  observe: (event: LedgerEvent) => {
    if (event.type === 'entry.claimed' && event.takenOver) say('taken over')
    if (event.type === 'claim.lost') say('claim lost')
    if ('error' in event && isDiskFull(event.error)) say('disk full')
    if (event.type !== 'ledger.failed') return
    say(isClear(event.error) ? 'ledger failed' : 'unclear failure', {
      message: event.error instanceof Error ? event.error.stack : String(event.error),
    })
  },
}

function isClear(error: unknown): boolean {
  return error instanceof HoldfastError || error instanceof ShopError
}

/** By the code of the driver's error, which the ledger's own error has as its cause. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ['53100', 'SQLITE_FULL'].includes(String((error as { code?: unknown }).code)) || isDiskFull(error.cause)
}

type Work = (given: { number: number; context: IdempotencyContext<unknown, unknown> }) => Promise<Reply>

/** A failure of the shop's own, which is none of the ledger's. */
class ShopError extends Error {}

const reconcile: NonNullable<ProtectOptions['reconcile']> = async (entry, { deriveKey }) => {
  const found = await work.reconcile(deriveKey('charge')).catch((error: unknown) => {
    throw new ShopError('The provider could not be asked', { cause: error })
  })
  say(found === 'rerun' ? 'not charged' : 'reconciled', { key: entry.key })
  return found
}
const orders = createLedger(terms)
const payments = createLedger({ ...terms, reconcile })
orders.startReaper({ every: 1000 })
// A replica that is killed after it has answered, and before it has recorded that, leaves an entry that no client asks for.
payments.startReaper({ every: 1000, reconcile: true })
const order = serve(orders, (given) => work.order(given))
const pay = serve(payments, (given) => work.pay(given), { external: true })
const transfer = orders.atomic((request, tx, { key }) =>
  work.transfer(tx, request.json<{ number: number }>().number, key),
)

function serve(ledger: typeof orders, handle: Work, options: ProtectOptions = {}): RequestListener {
  if (input.adapter === 'node') {
    return nodeHandler(
      ledger as Parameters<typeof nodeHandler>[0],
      async (request) => {
        const { number } = (await readJson(request)) as { number: number }
        return handle({ number, context: request.idempotency as IdempotencyContext<unknown, unknown> })
      },
      { ...options, onError: () => {} },
    ) as RequestListener
  }
  const run = async (request: Request, context: IdempotencyContext<unknown, unknown>): Promise<Reply> => {
    const { number } = (await request.json()) as { number: number }
    return handle({ number, context })
  }
  const onTimeout = (): void => say('framework timeout')
  const handler =
    input.adapter === 'framework'
      ? impatient(guardOf(ledger, options), run, onTimeout)
      : ledger.protect(run as Parameters<typeof ledger.protect>[0], options)
  return (request, response) => void bridge(handler, request, response)
}

/** node:http to a fetch-style handler and back. */
async function bridge(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const body = new Uint8Array(await buffer(incoming))
    const { method = 'GET', url, headers } = incoming
    const request = new Request(`http://shop${url}`, { method, body, headers: headers as Record<string, string> })
    const answer = await handler(request)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(new Uint8Array(await answer.arrayBuffer()))
  } catch {
    response.writeHead(500).end()
  }
}

const server = createServer((request, response) => {
  if (request.url?.startsWith('/payments')) pay(request, response)
  else if (request.url?.startsWith('/transfers')) void bridge(transfer, request, response)
  else order(request, response)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => say('ready', { port: (server.address() as AddressInfo).port }))

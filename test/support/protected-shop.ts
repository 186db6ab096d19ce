import type { LedgerStore } from '../../src/server/adapter/index.ts'
import {
  createLedger,
  type IdempotencyContext,
  json,
  type LedgerEvent,
  type LedgerOptions,
  type MemoryTransaction,
  memoryLedger,
  type ProtectOptions,
  type Reply,
} from '../../src/server/index.ts'
import { type ManualClock, manualClock } from '../../src/testing/manual-clock.ts'

type Options = Partial<LedgerOptions<MemoryTransaction, unknown, Request>>
type Handler = (request: Request, context: IdempotencyContext<MemoryTransaction>) => Promise<Response | Reply>

/** A shop with a ledger in memory, a clock that stands still, and a count of what was really done. */
export function protectedShop(options: Options = {}, protect: ProtectOptions = {}) {
  const clock = manualClock()
  const orders: string[] = []
  const events: LedgerEvent[] = []
  const store = (options.store ?? memoryLedger()) as LedgerStore<MemoryTransaction, Promise<Reply> | Reply>
  const ledger = createLedger({ scope: 'public', clock, observe: (event) => events.push(event), ...options, store })
  const order = (tx: MemoryTransaction, name: string): void => {
    orders.push(name)
    tx.onRollback(() => orders.splice(orders.indexOf(name), 1))
  }
  const serve = (handler: Handler) =>
    ledger.protect(handler as never, protect) as (request: Request) => Promise<Response>
  const placeOrder = serve(async (_, { effect, key }) =>
    effect(async (tx) => {
      order(tx, key ?? 'keyless')
      return json({ ordered: key }, { status: 201 })
    }),
  )
  return { clock, orders, events, store, ledger, order, serve, placeOrder }
}

export type ProtectedShop = ReturnType<typeof protectedShop>

interface Asked {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A POST with a key, unless asked otherwise. */
export function ask(key: string | null, { method = 'POST', path = '/orders', body, headers }: Asked = {}): Request {
  const keyed: Record<string, string> = key === null ? {} : { 'idempotency-key': key }
  const content = method === 'GET' || method === 'HEAD' ? {} : { body: body ?? '{"amount":5}' }
  return new Request(`http://127.0.0.1${path}`, {
    method,
    ...content,
    headers: { 'content-type': 'application/json', ...keyed, ...headers },
  })
}

/** A promise and the way to settle it, for handlers that are to be held up. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Lets everything that can go on without time do so. */
export function settleDown(clock: ManualClock): Promise<void> {
  return clock.advance(0)
}

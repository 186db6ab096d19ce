/** What calls give and take, as the compiler sees it. Checked by `npm run typecheck`; nothing here runs. */
import {
  type AnyHoldfastError,
  type BodyError,
  type Client,
  type ConfigurationError,
  createClient,
  type DurabilityLevel,
  type FetchLike,
  type HoldfastCode,
  type HoldfastError,
  type HoldfastEvent,
  type IndeterminateError,
  isHoldfastError,
  type Json,
  type KeyReuseError,
  type NotSentError,
  type OperationHandle,
  type OperationRef,
  RejectedError,
  type SettledStatus,
  type Settlement,
  type StorageError,
} from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function is<Answer extends true>(): Answer | undefined {
  return undefined
}

interface Charge {
  readonly id: string
}

export async function calls(client: Client): Promise<void> {
  const handle = client.post('/charges', { json: { amount: 5000 } })
  is<Same<typeof handle, OperationHandle>>()
  const response = await handle
  is<Same<typeof response, Response>>()
  const charge = await handle.json<Charge>()
  is<Same<typeof charge, Charge>>()
  const anything = await handle.json()
  is<Same<typeof anything, unknown>>()
  const level = await handle.accepted
  is<Same<typeof level, DurabilityLevel>>()
  is<Same<typeof handle.key, string>>()
  is<Same<typeof handle.id, string | undefined>>()
  // A handle goes wherever a promise does, and `fetch` wherever a fetch does.
  const promise: Promise<Response> = handle
  const drop: FetchLike = client.fetch
  const standard: typeof globalThis.fetch = client.fetch
  await Promise.all([promise, drop('/a'), standard('/a')])
  // @ts-expect-error the key is not the caller's to set afterwards
  handle.key = 'x'
  // @ts-expect-error an option that does not exist
  await client.post('/a', { jsn: 1 })
  // @ts-expect-error numbers are no body
  await client.post('/a', { body: 5 })
  // @ts-expect-error metadata is JSON
  await client.post('/a', { metadata: { when: new Date() } })
  // @ts-expect-error a word that is not a way to go on
  await client.post('/a', { lane: 'a', laneOnFailure: 'skip' })
  // @ts-expect-error a word that is not a way to give up
  await client.post('/a', { onGiveUp: 'drop' })
}

export function errors(error: unknown): string | undefined {
  if (error instanceof RejectedError) {
    is<Same<typeof error.effect, 'none' | 'unknown' | 'applied'>>()
    return error.problem?.title ?? error.response?.statusText
  }
  if (!isHoldfastError(error)) return undefined
  is<Same<typeof error, AnyHoldfastError>>()
  const known: HoldfastError = error
  return known.attempts[0]?.fault
}

/** The code tells the class. */
export function codes(error: unknown): unknown {
  if (!isHoldfastError(error)) return undefined
  is<Same<typeof error.code, HoldfastCode>>()
  switch (error.code) {
    case 'HOLDFAST_REJECTED':
      is<Same<typeof error, RejectedError>>()
      is<Same<typeof error.response, Response>>()
      is<Same<typeof error.operation, OperationRef>>()
      return error.problem
    case 'HOLDFAST_KEY_REUSE':
      is<Same<typeof error, KeyReuseError>>()
      is<Same<typeof error.operation, OperationRef>>()
      return error.response?.status
    case 'HOLDFAST_INDETERMINATE':
      is<Same<typeof error, IndeterminateError>>()
      is<Same<typeof error.operation, OperationRef>>()
      return error.response?.status
    case 'HOLDFAST_NOT_SENT':
      is<Same<typeof error, NotSentError>>()
      return error.retryAt
    case 'HOLDFAST_CLOSED':
      is<Same<typeof error, NotSentError | IndeterminateError>>()
      return error.effect
    case 'HOLDFAST_STORAGE':
    case 'HOLDFAST_RECORD_CORRUPT':
    case 'HOLDFAST_RECORD_NEWER':
    case 'HOLDFAST_RECORD_GONE':
    case 'HOLDFAST_UNKNOWN_OPERATION':
    case 'HOLDFAST_POOL_BUSY':
      is<Same<typeof error, StorageError>>()
      return error.effect
    case 'HOLDFAST_BODY':
    case 'HOLDFAST_BODY_TOO_LARGE':
    case 'HOLDFAST_BODY_UNREADABLE':
    case 'HOLDFAST_INVALID_JSON':
    case 'HOLDFAST_BODY_OMITTED':
      is<Same<typeof error, BodyError>>()
      return error.effect
    case 'HOLDFAST_CONFIGURATION':
      is<Same<typeof error, ConfigurationError>>()
      return error.message
    case 'HOLDFAST_CLAIM_LOST':
    case 'HOLDFAST_NOT_COMMITTED':
    case 'HOLDFAST_RECONCILE':
    case 'HOLDFAST_MESSAGE_HELD':
      return error.effect
    // @ts-expect-error a code that does not exist
    case 'HOLDFAST_REJECT':
      return undefined
  }
}

interface Order {
  readonly order: number
}

export async function handlers(client: Client): Promise<void> {
  client.onSettled('charge', ({ operation, status }) => {
    is<Same<typeof operation.metadata, Json | undefined>>()
    is<Same<typeof status, SettledStatus>>()
  })
  client.onSettled<Order>('charge', async ({ operation, response, error }) => {
    is<Same<typeof operation.metadata, Order>>()
    is<Same<typeof response, Response | undefined>>()
    is<Same<typeof error, HoldfastError | undefined>>()
  })
  const whole = (settlement: Settlement): void => void settlement
  client.onSettled('*', whole)
}

export async function outbox(client: Client): Promise<void> {
  const prepared = await client.prepare('POST', '/charges')
  is<Same<keyof typeof prepared, 'key' | 'id' | 'name' | 'method' | 'url' | 'persist'>>()
  await client.send(prepared)
}

/** The union is closed: a switch over it needs no default. */
export function events(event: HoldfastEvent): string {
  switch (event.type) {
    case 'operation.accepted':
      return event.durability
    case 'attempt.started':
      return String(event.attempt)
    case 'attempt.ended':
      return event.effect
    case 'operation.waiting':
      return event.reason
    case 'operation.settled':
      return event.status
    case 'operation.resumed':
      return String(event.attempts)
    case 'lease.lost':
      return event.url
    case 'journal.unattended':
      return String(event.operations)
    case 'horizon.shortened':
      return `${event.key} ${event.windowMs} ${event.horizonAt}`
    case 'budget.exhausted':
      return event.origin
    case 'breaker.changed':
      return event.to
    case 'journal.failed':
      return event.error.message
  }
}

/** What loggers write themselves is no name of a field. */
type Clash<Event> = Event extends unknown ? Extract<keyof Event, 'level' | 'time' | 'msg' | 'pid'> : never
is<Same<Clash<HoldfastEvent>, never>>()

export async function disposal(): Promise<void> {
  await using client = createClient({ journal: false })
  await client.get('https://example.com/')
}

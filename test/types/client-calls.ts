/** What calls give and take, as the compiler sees it. Checked by `npm run typecheck`; nothing here runs. */
import {
  type Client,
  createClient,
  type DurabilityLevel,
  type FetchLike,
  type HoldfastError,
  type HoldfastEvent,
  isHoldfastError,
  type OperationHandle,
  RejectedError,
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
  // @ts-expect-error a word that is not a way to give up
  await client.post('/a', { onGiveUp: 'drop' })
}

export function errors(error: unknown): string | undefined {
  if (error instanceof RejectedError) {
    is<Same<typeof error.effect, 'none' | 'unknown' | 'applied'>>()
    return error.problem?.title ?? error.response?.statusText
  }
  if (!isHoldfastError(error)) return undefined
  is<Same<typeof error, HoldfastError>>()
  return error.attempts[0]?.fault
}

/** The union is closed: a switch over it needs no default. */
export function events(event: HoldfastEvent): string {
  switch (event.type) {
    case 'operation.accepted':
      return event.level
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

export async function disposal(): Promise<void> {
  await using client = createClient({ journal: false })
  await client.get('https://example.com/')
}

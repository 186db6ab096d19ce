/** Pools of other make may emit nothing. */
interface Emitter {
  on?(event: string, listener: (client: Emitter) => void): unknown
  emit?(event: string, ...values: unknown[]): unknown
  /** `end` was called. */
  readonly ending?: boolean
  end?(): Promise<void>
}

function emitterOf(pool: object): Emitter {
  return pool
}

/** An application prepares its connections in `pool.on('connect')`, by SET ROLE say: ours need the same. */
export function shareEvents(own: object, pool: object | undefined): void {
  if (!pool) return
  for (const event of ['connect', 'remove']) {
    emitterOf(own).on?.(event, (client) => void emitterOf(pool).emit?.(event, client))
  }
}

/**
 * Our pool ends with the application's: its connections would otherwise be open for some seconds more, and keep a database
 * from being dropped. A pool says that it ends by removing its connections.
 */
export function endTogether(own: object, pool: object | undefined): void {
  if (pool) emitterOf(pool).on?.('remove', () => void (emitterOf(pool).ending && endOnce(own)))
}

/** A pool of pg must not be ended twice. */
export async function endOnce(pool: object): Promise<void> {
  if (!emitterOf(pool).ending) await emitterOf(pool).end?.()
}

const guarded = new WeakSet<object>()
const ignore = (): void => {}

/**
 * The pool replaces a connection that dies. But an `error` event without a listener ends the process: one of the pool, if
 * nobody used the connection, or one of the client, between two statements of a transaction. Clients that were connected before are
 * guarded when they are next taken from the pool.
 */
export function guardPool(pool: object): void {
  if (!guard(pool)) return
  for (const event of ['connect', 'acquire']) emitterOf(pool).on?.(event, (client) => void (client && guard(client)))
}

/** False: it was guarded before. */
function guard(emitter: object): boolean {
  if (guarded.has(emitter)) return false
  guarded.add(emitter)
  emitterOf(emitter).on?.('error', ignore)
  return true
}

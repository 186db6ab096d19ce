import type { ServerOptions } from './server-model.ts'

/** What happens to the fleet. Times are milliseconds from the start. */
export interface Scenario {
  readonly clients: number
  /** Of the whole fleet, so that the same load comes from few busy clients or from many quiet ones. */
  readonly operationsPerSecond: number
  readonly attemptTimeoutMs: number
  /** One way, drawn evenly. */
  readonly latencyMs: readonly [shortest: number, longest: number]
  readonly server: ServerOptions
  /** New operations come until then. */
  readonly until: number
  /** After that, what is under way has so long to end. */
  readonly drainMs: number
}

type ServerKind = 'queues' | 'sheds'

/**
 * `queues`: accepts more than it can answer in time, as servers with long queues do; work that nobody waits for
 * any more crowds out the rest. `sheds`: refuses early enough that what it accepts is answered in time.
 */
const LONGEST_QUEUE_MS: Record<ServerKind, number> = { queues: 5000, sheds: 500 }

/** `down`: every request is refused. `slow`: half of the usual load can be served; the rest is too much. */
type OutageKind = 'down' | 'slow'

const LEFT_IN_OUTAGE: Record<OutageKind, number> = { down: 0, slow: 0.35 }

export interface OutageOptions {
  readonly clients: number
  readonly server?: ServerKind
  readonly kind?: OutageKind
  readonly saysDoNotRetry?: boolean
  readonly operationsPerSecond?: number
  readonly observedMs?: number
}

/** How long clients wait for an answer: less than the long queue holds. */
const ATTEMPT_TIMEOUT_MS = 1000

export const OUTAGE = { from: 10_000, until: 40_000 } as const

/** Half a minute of outage of a server of which 70 % are used otherwise. */
export function outage(options: OutageOptions): Scenario {
  const { clients, server = 'queues', kind = 'down', saysDoNotRetry = false, operationsPerSecond = 1000 } = options
  return {
    clients,
    operationsPerSecond,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    latencyMs: [2, 8],
    server: {
      capacityPerSecond: operationsPerSecond / 0.7,
      longestQueueMs: LONGEST_QUEUE_MS[server],
      refusalCost: 0.1,
      downFrom: OUTAGE.from,
      downUntil: OUTAGE.until,
      leftInOutage: LEFT_IN_OUTAGE[kind],
      saysDoNotRetry,
    },
    until: OUTAGE.until + (options.observedMs ?? 150_000),
    drainMs: 30_000,
  }
}

export interface BudgetLimits {
  /** What a success adds to the bucket. */
  readonly ratio: number
  readonly burst: number
  readonly reservePerSecond: number
  /** What a new client has, and a quiet one comes back to: `burst` at most. */
  readonly rest: number
}

export interface BreakerLimits {
  /** If a request fails that is sent so long after the first of several failures in a row, the breaker opens. */
  readonly openAfterMs: number
  /** The pause between two probes while it is open. */
  readonly openForMs: number
}

/** A caller's own ceilings for one origin. */
export interface RequestLimits {
  /** Requests in flight. */
  readonly concurrency: number | undefined
  /** Requests per second, evenly spread. */
  readonly perSecond: number | undefined
}

export interface GateLimits extends Partial<RequestLimits> {
  readonly budget: BudgetLimits | false
  /** False: no origin counts as failing. First attempts always go; budget and pace hold the others. */
  readonly breaker: BreakerLimits | false
  /** How many requests the platform carries side by side. It queues any further one, while the attempt timeout runs. */
  readonly connections?: (() => number) | undefined
}

/** A kept operation waits so long at its gate before it is put back. */
export const PATIENCE_MS = 5000

/** Chosen by measurement: `test/storm/experiments/blips.ts` has the troubles, and `gate.test.ts` holds the results. */
export const TUNING = {
  /** An origin is failing after a streak of failures that chance alone makes once in a thousand times, in these bounds. */
  chance: 0.001,
  leastStreak: 3,
  longestStreak: 30,
  /** The share of successes is the mean of about so many answers. */
  answersInShare: 20,

  /** Between probes, doubling. A probe is the first attempt of a call that waits: it costs nothing extra. */
  firstPauseMs: 50,
  longestPauseMs: 500,
  /** A probe without an answer makes room for the next one: a server that hung may be back. */
  probePlaceMs: 500,
  /** A server that said to be back by then, as a share of `openAfter`, is waited for. */
  openLate: 1.125,
  /** While nothing succeeds, retries that more tokens than these pay for are spread over a blip. */
  soonRetries: 2,
  /** As a share of `openAfter`: before that the last token is not spent. */
  shortBlip: 0.25,
  /** Probes without an answer for this share of `openAfter` have failed. */
  hangs: 0.4,
  /** If the open breaker has refused so many calls, the next probe comes sooner by this share of `openFor`. */
  refusedPerProbe: 4,
  sooner: 0.7,
  /** Failures say nothing of now if no request was sent for this long. */
  forgetMs: 10_000,

  /** So many requests in a row without an answer for this long, and for three times what is usual: the server may hang. */
  silentRequests: 5,
  silenceMs: 250,
  knownAnswers: 10,
  /** Or it is slow: then one request follows after this pause, and each further one sooner, all of them after some 2.5 s. */
  silentPauseMs: 500,
  silentFaster: 0.8,

  /** After failing: one request, then one more at once for each success. A thousand clients come back at the same moment. */
  firstWindow: 1,
  /** The least window that a failure opens while the origin is healthy. */
  usualWindow: 8,
  failureFactor: 0.95,
  slowFactor: 0.9,
  /** After so many answers without a failure, slow answers narrow the window no more, and it goes if nobody needs it. */
  calmAnswers: 100,

  /** A server that asks for more (`Retry-After`) holds everything for this long; the operation that got it waits on. */
  longestHoldMs: 10_000,

  /** Kept operations in flight, at most. */
  mostKept: 256,
  /** What kept operations can earn for those that follow at once. */
  mostCredit: 100,
  /** Kept operations come back slowly if nothing has succeeded for this long. */
  deadAfterMs: 2000,
} as const

export interface BudgetLimits {
  readonly ratio: number
  readonly burst: number
  readonly reservePerSecond: number
  /** What a new client has, and a quiet one comes back to. */
  readonly rest: number
}

export interface BreakerLimits {
  readonly openAfterMs: number
  readonly openForMs: number
}

export interface GateLimits {
  readonly budget: BudgetLimits | false
  readonly breaker: BreakerLimits | false
}

/** Measured in the storm laboratory; see `test/storm/experiments/blips.ts`. */
export const TUNING = {
  leastStreak: 3,
  longestStreak: 30,
  chance: 0.001,
  answersInShare: 20,
  firstPauseMs: 50,
  longestPauseMs: 500,
  probePlaceMs: 1000,
  refusedPerProbe: 10,
  sooner: 0.7,
  firstWindow: 1,
  usualWindow: 8,
  leastWindow: 1,
  slowFactor: 0.9,
  failureFactor: 0.95,
  calmAnswers: 30,
  mostKept: 100,
  silentMs: 2000,
  stalledRequests: 5,
  silenceMs: 300,
  firstSilenceMs: 1000,
  knownAnswers: 10,
  forgetMs: 10_000,
}

import { type BudgetLimits, type GateLimits, TUNING } from './gate-limits.ts'
import { alive, type GateState } from './gate-state.ts'

const NUMBERS = [
  'tokens',
  'at',
  'credit',
  'failures',
  'succeededAt',
  'share',
  'pauseMs',
  'probeAt',
  'nextAt',
  'gapMs',
  'keptAt',
  'usualMs',
  'answers',
] as const

/** What other clients must know of an origin: without it each would spend its own burst. */
export function isUnwell({ tokens, failures, gapMs }: GateState, budget: BudgetLimits | false): boolean {
  return failures >= TUNING.leastStreak || gapMs > 0 || (budget !== false && tokens < budget.rest)
}

/** What a journal or another tab had of the state; undefined if it is no such state. Requests in flight are its own. */
export function restoreGate(stored: unknown, { budget, breaker }: GateLimits, now: number): GateState | undefined {
  if (!isGateState(stored)) return undefined
  const isFailing = stored.failures > 0 && breaker !== false
  return {
    ...stored,
    tokens: budget ? Math.min(stored.tokens, budget.rest) : stored.tokens,
    credit: budget ? 0 : Math.min(stored.credit, 1),
    failures: isFailing ? stored.failures : 0,
    failedAt: isFailing ? stored.failedAt : undefined,
    window: undefined,
    calm: 0,
    probe: undefined,
    refused: 0,
    nextAt: Math.min(stored.nextAt, now + TUNING.longestHoldMs),
    spaceMs: 0,
    spacedUntil: now,
  }
}

function isGateState(value: unknown): value is GateState {
  if (typeof value !== 'object' || value === null) return false
  const given = value as Record<string, unknown>
  if (!NUMBERS.every((name) => Number.isFinite(given[name]))) return false
  return given.failedAt === undefined || Number.isFinite(given.failedAt)
}

/**
 * What this client makes of the restored state of another one. Bad news travels, tokens don't: no client may spend what
 * another has earned. A success of either ends the failures before it, and a probe stays with its sender.
 */
export function mergeGates(mine: GateState, theirs: GateState): GateState {
  const succeededAt = Math.max(mine.succeededAt, theirs.succeededAt)
  const [own, other] = [mine, theirs].map((state) => ((state.failedAt ?? 0) > succeededAt ? state : undefined))
  const failing = own ?? other
  const base = failing
    ? { ...mine, ...failuresOf(failing) }
    : theirs.succeededAt > (mine.failedAt ?? 0)
      ? alive(mine)
      : mine
  return {
    ...base,
    tokens: Math.min(mine.tokens, theirs.tokens),
    credit: Math.min(mine.credit, theirs.credit),
    gapMs: theirs.at > mine.at ? theirs.gapMs : mine.gapMs,
    keptAt: Math.max(mine.keptAt, theirs.keptAt),
    nextAt: Math.max(mine.nextAt, theirs.nextAt),
    succeededAt,
  }
}

function failuresOf({ failures, failedAt, share, pauseMs, probeAt }: GateState): Partial<GateState> {
  return { failures, failedAt, share, pauseMs, probeAt }
}

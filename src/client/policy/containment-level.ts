import type { Containment, ContainmentLimits } from './containment.ts'

const NUMBERS = ['tokens', 'at', 'failures', 'succeededAt', 'gapMs', 'keptAt', 'usualMs', 'answers'] as const

/** What other clients must know of an origin: without it each would spend its own burst. */
export function isUnwell({ tokens, openUntil, gapMs }: Containment, { budget }: ContainmentLimits): boolean {
  return openUntil !== undefined || gapMs > 0 || (budget !== false && tokens < budget.rest)
}

/** What a journal or another tab had of the state; undefined where it is no such state. */
export function restoreContainment(stored: unknown, { budget, breaker }: ContainmentLimits): Containment | undefined {
  if (!isContainment(stored)) return undefined
  const { openUntil, probe: _itsOwn, ...rest } = stored
  const tokens = budget ? Math.min(stored.tokens, budget.rest) : stored.tokens
  return { ...rest, tokens, openUntil: breaker ? openUntil : undefined }
}

function isContainment(value: unknown): value is Containment {
  if (typeof value !== 'object' || value === null) return false
  const given = value as Record<string, unknown>
  if (!NUMBERS.every((name) => Number.isFinite(given[name]))) return false
  return given.openUntil === undefined || Number.isFinite(given.openUntil)
}

/**
 * What this client makes of the restored state of another one. Bad news travels, tokens don't: no client may spend
 * what another has earned. A breaker that is open for one is open for both until a probe has succeeded since, and a probe
 * stays with its sender.
 */
export function mergeContainment(mine: Containment, theirs: Containment): Containment {
  const newer = theirs.at > mine.at ? theirs : mine
  const succeededAt = Math.max(mine.succeededAt, theirs.succeededAt)
  const opensAt = Math.max(mine.openUntil ?? 0, theirs.openUntil ?? 0)
  const isOpen = opensAt > succeededAt
  return {
    ...newer,
    tokens: Math.min(mine.tokens, theirs.tokens),
    keptAt: Math.max(mine.keptAt, theirs.keptAt),
    succeededAt,
    openUntil: isOpen ? opensAt : undefined,
    probe: isOpen ? mine.probe : undefined,
  }
}

export type BreakerPhase = 'closed' | 'open' | 'half-open'

export function phaseOf({ openUntil, probe }: Containment): BreakerPhase {
  if (openUntil === undefined) return 'closed'
  return probe === undefined ? 'open' : 'half-open'
}

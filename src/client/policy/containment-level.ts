import { type Containment, type ContainmentLimits, newContainment } from './containment.ts'

const NUMBERS = ['tokens', 'at', 'failures', 'succeededAt', 'gapMs', 'keptAt', 'usualMs', 'answers'] as const

/** What a journal or another tab had of the state; anything that is no such state is as good as none. */
export function restoreContainment(stored: unknown, limits: ContainmentLimits, now: number): Containment {
  const fresh = newContainment(limits, now)
  if (!isContainment(stored)) return fresh
  const { openUntil, probe: _died, ...rest } = stored
  const tokens = Math.min(stored.tokens, limits.budget ? limits.budget.burst : stored.tokens)
  // The process that sent the probe is gone: the next request is one.
  return { ...rest, tokens, openUntil: limits.breaker ? openUntil : undefined }
}

function isContainment(value: unknown): value is Containment {
  if (typeof value !== 'object' || value === null) return false
  const given = value as Record<string, unknown>
  if (!NUMBERS.every((name) => Number.isFinite(given[name]))) return false
  return given.openUntil === undefined || Number.isFinite(given.openUntil)
}

/**
 * What a tab makes of the state that another tab of the same origin sent. The newer state wins; the smaller bucket does,
 * unless the newer one has seen a success since. A probe stays with the tab that sent it.
 */
export function mergeContainment(mine: Containment, theirs: Containment): Containment {
  const [newer, older] = theirs.at > mine.at ? [theirs, mine] : [mine, theirs]
  const tokens = newer.succeededAt > older.succeededAt ? newer.tokens : Math.min(newer.tokens, older.tokens)
  const keptAt = Math.max(newer.keptAt, older.keptAt)
  const probe = newer.openUntil === undefined ? undefined : mine.probe
  return { ...newer, tokens, keptAt, probe }
}

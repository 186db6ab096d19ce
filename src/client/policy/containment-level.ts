import { type Containment, type ContainmentLimits, newContainment } from './containment.ts'

const NUMBERS = ['level', 'at', 'succeededAt', 'gapMs', 'keptAt', 'usualMs', 'answers'] as const

/** What a journal or another tab had of the state; anything that is no such state is as good as none. */
export function restoreContainment(stored: unknown, limits: ContainmentLimits, now: number): Containment {
  const fresh = newContainment(limits, now)
  if (!isContainment(stored)) return fresh
  const { openUntil, probe: _died, ...rest } = stored
  const level = Math.min(stored.level, limits.budget ? limits.budget.burst : stored.level)
  // The process that sent the probe is gone: the next request is one.
  return { ...rest, level, openUntil: limits.openForMs === false ? undefined : openUntil }
}

function isContainment(value: unknown): value is Containment {
  if (typeof value !== 'object' || value === null) return false
  const given = value as Record<string, unknown>
  if (!NUMBERS.every((name) => Number.isFinite(given[name]))) return false
  return given.openUntil === undefined || Number.isFinite(given.openUntil)
}

/**
 * What a tab makes of the state that another tab of the same origin sent. The newer state wins; the lower level does,
 * unless the newer one has seen a success since. A probe stays with the tab that sent it.
 */
export function mergeContainment(mine: Containment, theirs: Containment): Containment {
  const [newer, older] = theirs.at > mine.at ? [theirs, mine] : [mine, theirs]
  const level = newer.succeededAt > older.succeededAt ? newer.level : Math.min(newer.level, older.level)
  const keptAt = Math.max(newer.keptAt, older.keptAt)
  const probe = newer.openUntil === undefined ? undefined : mine.probe
  return { ...newer, level, keptAt, probe }
}

import type { Engine } from '../../client/engine/engine.ts'
import { phaseOf } from '../../client/policy/containment-level.ts'
import type { OriginRow, OriginsPage } from './wire.ts'

/** Retry budget and circuit breaker of each origin that the client has called; those in trouble come first. */
export function listOrigins({ options, clock }: Engine): OriginsPage {
  const now = clock.now()
  const { budget, breaker } = options
  const origins = [...budget.entries()].map(([origin, state]): OriginRow => {
    const { limits } = budget
    return {
      origin,
      budget: limits ? { tokens: rounded(budget.level(origin, now)), burst: limits.burst } : undefined,
      breaker: breaker ? phaseOf(state) : undefined,
      openUntil: state.openUntil,
      failures: state.failures,
      succeededAt: state.succeededAt || undefined,
    }
  })
  return { origins: origins.sort((a, b) => b.failures - a.failures || (a.origin < b.origin ? -1 : 1)) }
}

function rounded(tokens: number): number {
  return Math.round(tokens * 10) / 10
}

import type { Engine } from '../../client/engine/engine.ts'
import { breakerPhaseOf } from '../../client/gate/gate-state.ts'
import type { OriginRow, OriginsPage } from './wire.ts'

/** Retry budget and circuit breaker of each origin that the client has called; those in trouble come first. */
export function listOrigins({ options, clock, gates }: Engine): OriginsPage {
  const now = clock.now()
  const { budget, breaker } = options
  const origins = [...budget.entries()].map(([origin, state]): OriginRow => {
    const { limits } = budget
    return {
      origin,
      budget: limits ? { tokens: rounded(budget.level(origin, now)), burst: limits.burst } : undefined,
      breaker: breaker ? breakerPhaseOf(state, gates.limits, now) : undefined,
      openUntil: state.probeAt > now ? state.probeAt : undefined,
      failures: state.failures,
      succeededAt: state.succeededAt || undefined,
    }
  })
  return { origins: origins.sort((a, b) => b.failures - a.failures || (a.origin < b.origin ? -1 : 1)) }
}

function rounded(tokens: number): number {
  return Math.round(tokens * 10) / 10
}

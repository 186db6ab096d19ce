import type { ResolvedBreaker } from './resolved-options.ts'

/** What came of a request. `ignored`: aborted, or not sent for a reason of our own; it says nothing about the server. */
export type BreakerOutcome = 'success' | 'failure' | 'ignored'
export type BreakerPhase = 'closed' | 'open' | 'half-open'

/** A tenth of the window. */
interface Slice {
  readonly number: number
  readonly requests: number
  readonly failures: number
}

/**
 *            too many failures              openFor has passed
 *   closed ─────────────────────▶  open  ─────────────────────▶ half-open
 *      ▲                            ▲                             │    │
 *      │                            └───────── a probe fails ─────┘    │
 *      └───────────────────────────────────── a probe succeeds ────────┘
 */
export type BreakerState =
  | { readonly phase: 'closed'; readonly slices: readonly Slice[] }
  | { readonly phase: 'open'; readonly until: number }
  /** `since`: when the first probe was let through. `probes`: when each that holds a slot was, oldest first. */
  | { readonly phase: 'half-open'; readonly since: number; readonly probes: readonly number[] }

export interface Admission {
  readonly state: BreakerState
  readonly admitted: boolean
  /** Where not admitted: when it is worth asking again (epoch milliseconds). */
  readonly retryAt?: number
  /** Where it is a probe: what `record` knows it by. */
  readonly probe?: number
}

const SLICES = 10
const CLOSED: BreakerState = Object.freeze({ phase: 'closed', slices: Object.freeze([]) })

export function closedBreaker(): BreakerState {
  return CLOSED
}

/** May a request go out now? Where it is a probe, it has taken its slot in the returned state. */
export function admit(state: BreakerState, options: ResolvedBreaker, now: number): Admission {
  if (state.phase === 'closed') return { state, admitted: true }
  if (state.phase === 'open' && isOpen(state.until, options, now))
    return { state, admitted: false, retryAt: state.until }
  // A clock may be set back between two probes.
  const since = state.phase === 'half-open' ? Math.min(state.since, now) : now
  const probes = state.phase === 'half-open' ? underWay(state.probes, options, now) : []
  const oldest = probes[0]
  if (oldest !== undefined && probes.length >= options.probes) {
    return { state: { phase: 'half-open', since, probes }, admitted: false, retryAt: oldest + options.openForMs }
  }
  return { state: { phase: 'half-open', since, probes: [...probes, now] }, admitted: true, probe: now }
}

/** The state after a request that was admitted has ended; `probe` as its admission had it. */
export function record(
  state: BreakerState,
  options: ResolvedBreaker,
  {
    now,
    outcome,
    probe,
  }: { readonly now: number; readonly outcome: BreakerOutcome; readonly probe?: number | undefined },
): BreakerState {
  switch (state.phase) {
    case 'closed':
      return outcome === 'ignored' ? state : count(state.slices, options, { now, outcome })
    case 'open':
      // Requests that were under way when it opened tell nothing new.
      return state
    case 'half-open':
      // The same holds here for every request that is no probe of now. One that lost its slot by being slow still is.
      if (probe === undefined || probe < state.since) return state
      if (outcome === 'success') return CLOSED
      if (outcome === 'failure') return { phase: 'open', until: now + options.openForMs }
      return { ...state, probes: without(state.probes, probe) }
  }
}

function without(probes: readonly number[], probe: number): readonly number[] {
  const at = probes.indexOf(probe)
  return probes.filter((_, index) => index !== at)
}

/** What an onlooker would call it now: an open breaker whose time has passed is half open. */
export function breakerPhase(state: BreakerState, options: ResolvedBreaker, now: number): BreakerPhase {
  if (state.phase !== 'open') return state.phase
  return isOpen(state.until, options, now) ? 'open' : 'half-open'
}

/** A clock that was set back must not keep it open for longer than `openFor`: then it is time for a probe. */
function isOpen(until: number, options: ResolvedBreaker, now: number): boolean {
  return now < until && until - now <= options.openForMs
}

/** A probe that has not reported back within `openFor` no longer holds its slot. */
function underWay(probes: readonly number[], options: ResolvedBreaker, now: number): readonly number[] {
  return probes.filter((startedAt) => Math.abs(now - startedAt) < options.openForMs)
}

interface Ended {
  readonly now: number
  readonly outcome: 'success' | 'failure'
}

function count(slices: readonly Slice[], options: ResolvedBreaker, ended: Ended): BreakerState {
  const kept = add(slices, Math.floor(ended.now / (options.windowMs / SLICES)), ended.outcome)
  let requests = 0
  let failures = 0
  for (const slice of kept) {
    requests += slice.requests
    failures += slice.failures
  }
  const opens = requests >= options.minimumRequests && failures >= options.failureRate * requests
  return opens ? { phase: 'open', until: ended.now + options.openForMs } : { phase: 'closed', slices: kept }
}

/** The slices still inside the window, with one more request in the newest. Runs on every request: one pass, no closures. */
function add(slices: readonly Slice[], number: number, outcome: Ended['outcome']): readonly Slice[] {
  const failed = outcome === 'failure' ? 1 : 0
  const kept: Slice[] = []
  for (const slice of slices) if (Math.abs(number - slice.number) < SLICES) kept.push(slice)
  const newest = kept.pop()
  if (newest && newest.number < number) kept.push(newest)
  // A clock that was set back a little counts into the newest slice.
  const into = newest && newest.number >= number ? newest : { number, requests: 0, failures: 0 }
  kept.push({ number: into.number, requests: into.requests + 1, failures: into.failures + failed })
  return kept
}

import { OBSERVATIONS } from './observations.ts'
import { CLAIMS, CRASH_POINTS, FAULTS, STATES, TRANSITIONS } from './vocabulary.ts'

/** What a run has to have met, by kind. */
const EXPECTED = {
  state: STATES,
  transition: TRANSITIONS,
  fault: FAULTS,
  'crash point': CRASH_POINTS,
  observation: OBSERVATIONS,
  claim: CLAIMS,
} as const

export type CoverageKind = keyof typeof EXPECTED

/** How often each thing occurred, by kind and name. */
export type CoverageCounts = Record<CoverageKind, Record<string, number>>

/** Counts what occurred in histories. */
export class Coverage {
  readonly counts: CoverageCounts = {
    state: {},
    transition: {},
    fault: {},
    'crash point': {},
    observation: {},
    claim: {},
  }

  saw(kind: CoverageKind, name: string, times = 1): void {
    const counts = this.counts[kind]
    counts[name] = (counts[name] ?? 0) + times
  }

  add(other: CoverageCounts): void {
    for (const kind of Object.keys(other) as CoverageKind[]) {
      for (const [name, times] of Object.entries(other[kind])) this.saw(kind, name, times)
    }
  }

  /** What never occurred: a simulation that never meets a fault says nothing about it. */
  missing(): string[] {
    return (Object.keys(EXPECTED) as CoverageKind[]).flatMap((kind) =>
      EXPECTED[kind].filter((name) => !this.counts[kind][name]).map((name) => `${kind} ${name}`),
    )
  }
}

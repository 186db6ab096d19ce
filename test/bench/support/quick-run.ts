import { expect } from 'vitest'
import type { SectionName, SectionResult } from '../results.ts'
import { runSection } from '../run-section.ts'
import { QUICK } from '../terms.ts'

/** Memory that is retained may be less than none: the collector also takes what was there before. */
const MAY_BE_NEGATIVE = ['retainedKb', 'bytesPerCall']

/** The section in its smallest form. */
export function runQuickly(section: SectionName): Promise<SectionResult> {
  return runSection(section, { ...QUICK, progress: 'hidden' })
}

/** Every number of a section is one, and something was measured. How large they are is not a matter of a test. */
export function expectNumbers({ comparisons = [], facts = [] }: SectionResult): void {
  const rounds = comparisons.flatMap(({ measured }) => measured.map(({ rates }) => rates))
  const cpuMicros = comparisons.flatMap(({ measured }) => measured.flatMap((contender) => contender.cpuMicros))
  const values = facts.flatMap((fact) => Object.entries(fact.values))
  const positive = values.filter(([name]) => !MAY_BE_NEGATIVE.includes(name)).map(([, value]) => value)
  expect(rounds.length + values.length).toBeGreaterThan(0)
  expect(rounds.filter((rates) => rates.length === 0)).toEqual([])
  expect([...rounds.flat(), ...cpuMicros, ...positive].filter((value) => !(value > 0))).toEqual([])
  expect(values.filter(([, value]) => !Number.isFinite(value))).toEqual([])
}

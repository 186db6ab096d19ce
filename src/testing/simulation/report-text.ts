import type { CoverageCounts, CoverageKind } from './coverage.ts'
import type { FailedHistory, SimulationProgress, SimulationReport } from './simulate.ts'

/** One line that says how far a run has come. */
export function progressLine(progress: SimulationProgress): string {
  const { histories, of, elapsedMs, crashes, resumes, retries, failures } = progress
  const rate = histories / Math.max(0.001, elapsedMs / 1000)
  const share = Number.isFinite(of) ? ` of ${count(of)}` : ''
  const counts = `${count(crashes)} crashes, ${count(resumes)} resumes, ${count(retries)} retries`
  return `${count(histories)}${share} histories, ${count(Math.round(rate))}/s, ${counts}, ${failures} failed`
}

/** What happened in a run, for a person to read. */
export function reportText(report: SimulationReport): string {
  const parts = [progressLine(report), coverageText(report.coverage)]
  if (report.missing.length > 0) parts.push(`Never occurred: ${report.missing.join(', ')}`)
  parts.push(...report.failed.map(failureText))
  if (report.failed.length === 0) parts.push('No promise was broken.')
  return parts.join('\n\n')
}

function coverageText(coverage: CoverageCounts): string {
  const kinds = Object.keys(coverage) as CoverageKind[]
  return kinds.map((kind) => `${kind}s: ${tally(coverage[kind])}`).join('\n')
}

function tally(counts: Record<string, number>): string {
  const sorted = Object.entries(counts).sort(([one], [other]) => one.localeCompare(other))
  return sorted.map(([name, times]) => `${name} ${count(times)}`).join(', ')
}

function failureText({ seed, broken, without, trace }: FailedHistory): string {
  const promises = broken.map(({ promise, sentence }) => `${promise}: ${sentence}`)
  const left = without.length > 0 ? ` --without ${without.join(',')}` : ''
  return [
    `Seed ${seed} broke a promise:`,
    ...promises,
    `Replay: --seed ${seed} --histories 1 --trace${left}`,
    ...trace,
  ].join('\n')
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

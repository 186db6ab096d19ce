/**
 * The model of the storm laboratory beside real clients over sockets, in the same trials:
 *
 *   npm run storm:sockets -- --runs 3 --trial outage
 *
 * All three trials with three runs each take a quarter of an hour. See docs/internals/storm-model.md.
 */
import { parseArgs } from 'node:util'
import { compare } from './compare.ts'
import { comparisonReport } from './comparison-report.ts'
import { halfCapacity, halfFails, outageAndResume, type Trial } from './trials.ts'

const TRIALS: Readonly<Record<string, Trial>> = {
  share: halfFails(30_000),
  capacity: halfCapacity({ beforeMs: 10_000, lastsMs: 30_000, afterMs: 20_000 }),
  outage: outageAndResume({ beforeMs: 10_000, lastsMs: 30_000, afterMs: 150_000 }),
}

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, trial: { type: 'string', default: Object.keys(TRIALS).join() } },
})
const runs = Number(values.runs)
const chosen = values.trial.split(',').map((name) => TRIALS[name])

if (!Number.isInteger(runs) || runs < 1 || chosen.includes(undefined)) {
  process.stderr.write(`--runs <number> --trial <some of ${Object.keys(TRIALS).join()}>\n`)
  process.exitCode = 2
} else {
  for (const trial of chosen) {
    if (!trial) continue
    const comparison = await compare(trial, runs, (line) => process.stderr.write(`${line}\n`))
    process.stdout.write(`${comparisonReport(comparison)}\n\n`)
  }
}

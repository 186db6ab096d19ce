import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RoundReport } from './round-report.ts'
import type { StateFile } from './state-file.ts'

/** What a process that runs one round is told. */
export interface RoundOrder<Input> {
  readonly seed: number
  /** An empty folder that is gone after the round. */
  readonly folder: string
  readonly input: Input
}

export interface RoundsTerms<Input> {
  readonly program: URL
  readonly input: Input
  readonly rounds: number
  /** How many rounds at once, each in a process of its own. */
  readonly workers: number
  readonly state: StateFile<readonly RoundReport[]>
  readonly onProgress: (line: string) => void
}

type Said = { readonly progress: string } | { readonly report: RoundReport }

const FAILURES_THAT_STOP = 3

/** Rounds of one hunt, each with the next seed. Those that the state file has are not run again. */
export async function runRounds<Input>(terms: RoundsTerms<Input>): Promise<readonly RoundReport[]> {
  const { rounds, workers, state, onProgress } = terms
  const reports = [...(state.progress ?? [])]
  if (reports.length > 0) onProgress(`${reports.length} rounds were done before`)
  const done = new Set(reports.map(({ seed }) => seed))
  const open = Array.from({ length: rounds }, (_, round) => state.seed + round).filter((seed) => !done.has(seed))
  const isBroken = (): boolean => reports.filter(({ faults }) => faults.length > 0).length >= FAILURES_THAT_STOP
  const work = async (): Promise<void> => {
    while (!isBroken()) {
      const seed = open.shift()
      if (seed === undefined) return
      const report = await inProcess(terms, seed)
      reports.push(report)
      state.keep(reports)
      onProgress(`seed ${seed}: ${report.faults.length} faults; ${reports.length} of ${rounds} rounds done`)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  return reports.sort((one, other) => one.seed - other.seed)
}

async function inProcess<Input>(
  { program, input, onProgress }: RoundsTerms<Input>,
  seed: number,
): Promise<RoundReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-round-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const child = fork(program)
  try {
    return await new Promise<RoundReport>((resolve, reject) => {
      child.on('message', (said: Said) => {
        if ('report' in said) resolve(said.report)
        else onProgress(`seed ${seed}: ${said.progress}`)
      })
      child.once('exit', (code, signal) =>
        reject(new Error(`The round with seed ${seed} ended with ${code ?? signal}`)),
      )
      child.send({ seed, folder, input } satisfies RoundOrder<Input>)
    })
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** The other end: runs the round that it is told to, tells how far it is, and ends. */
export function serveRound<Input>(
  run: (order: RoundOrder<Input>, onProgress: (progress: string) => void) => Promise<RoundReport>,
): void {
  process.once('message', async (order: RoundOrder<Input>) => {
    try {
      const report = await run(order, (progress) => process.send?.({ progress }))
      process.send?.({ report }, () => process.exit(0))
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    }
  })
  // The run was interrupted: what this process has started ends with it.
  process.on('disconnect', () => process.exit(1))
}

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export interface StateTerms {
  /** What the command line said of the seed, and the one to take where it said nothing. */
  readonly seed: number | undefined
  readonly drawnSeed: number
  /** Whatever else makes two runs the same run. */
  readonly terms: Readonly<Record<string, unknown>>
}

interface Stored<Progress> {
  readonly seed: number
  readonly terms: Readonly<Record<string, unknown>>
  readonly progress?: Progress
}

/** How far a run has come, in a small file: the same command goes on where an interrupted one was. */
export class StateFile<Progress> {
  readonly seed: number
  /** What an earlier run with this file had done. */
  readonly progress: Progress | undefined
  readonly #path: string | undefined
  readonly #terms: StateTerms['terms']

  /** Without a path nothing is kept. */
  constructor(path: string | undefined, { seed, drawnSeed, terms }: StateTerms) {
    const stored = path !== undefined && existsSync(path) ? read<Progress>(path) : undefined
    if (path !== undefined && stored) refuseOther(path, stored, { ...(seed && { seed }), ...terms })
    this.seed = stored?.seed ?? seed ?? drawnSeed
    this.progress = stored?.progress
    this.#path = path
    this.#terms = terms
    // From the first moment on: a run that is interrupted at once has drawn its seed already.
    if (!stored) this.#write(undefined)
  }

  keep(progress: Progress): void {
    this.#write(progress)
  }

  /** Whole or not at all: an interruption leaves the file of before. */
  #write(progress: Progress | undefined): void {
    if (this.#path === undefined) return
    const stored: Stored<Progress | undefined> = { seed: this.seed, terms: this.#terms, progress }
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(stored)}\n`)
    renameSync(`${this.#path}.new`, this.#path)
  }
}

function read<Progress>(path: string): Stored<Progress> {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as Stored<Progress>
    if (Number.isSafeInteger(stored.seed) && typeof stored.terms === 'object') return stored
  } catch {
    // Told below, as one sentence for both.
  }
  throw new TypeError(`--state ${path} is not a state file of such a run; name another file`)
}

function refuseOther(path: string, { seed, terms }: Stored<unknown>, asked: Readonly<Record<string, unknown>>): void {
  const kept: Readonly<Record<string, unknown>> = { seed, ...terms }
  for (const [name, value] of Object.entries(asked)) {
    if (JSON.stringify(kept[name]) === JSON.stringify(value)) continue
    const both = `--${name} ${JSON.stringify(kept[name])}, not ${JSON.stringify(value)}`
    throw new TypeError(`--state ${path} is of a run with ${both}; give the same command, or another file`)
  }
}

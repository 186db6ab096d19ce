import { runCommandLine } from '../../../src/cli/run-command-line.ts'
import type { Terminal } from '../../../src/cli/terminal.ts'

export interface CliResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

type Surroundings = Partial<Pick<Terminal, 'env' | 'columns' | 'now' | 'confirm' | 'signal' | 'out'>>

/** One command in this process, as a terminal without colours would see it. */
export async function cli(args: readonly string[], surroundings: Surroundings = {}): Promise<CliResult> {
  let [out, err] = ['', '']
  const terminal: Terminal = {
    env: {},
    columns: undefined,
    hasColour: false,
    now: () => Date.now(),
    signal: new AbortController().signal,
    out: async (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    progress: () => ({ update: () => {}, stop: () => {} }),
    ...surroundings,
  }
  const code = await runCommandLine(args, terminal)
  return { code, out, err }
}

/** The document that a command has printed. */
export function parsed<T>({ out }: CliResult): T {
  return JSON.parse(out) as T
}

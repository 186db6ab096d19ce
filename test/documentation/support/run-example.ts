import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
export const EXAMPLES = join(ROOT, 'examples')

interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs an example as its reader would; they import the package by its name, so it has to be built. */
export function runExample(example: string): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(EXAMPLES, example, 'main.mjs')],
      { cwd: ROOT },
      (_, stdout, stderr) => resolve({ code: child.exitCode, output: stdout + stderr }),
    )
  })
}

import { readdirSync, readFileSync } from 'node:fs'

/** In the environment of each process of a browser, also of those that go their own way. */
export const MARK = 'HOLDFAST_TEST_BROWSER'

/** The processes that run and carry the mark. Those that have ended, but that nobody has taken note of, do not count. */
export function processesOf(mark: string): number[] {
  return pids().filter((pid) => read(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${mark}`))
}

/** Resolves when none of them is left. */
export async function gone(mark: string, withinMs = 10_000): Promise<void> {
  for (const start = Date.now(); processesOf(mark).length > 0; await new Promise((next) => setTimeout(next, 10)))
    if (Date.now() - start > withinMs) throw new Error(`Still running: ${processesOf(mark).join(', ')}`)
}

function pids(): number[] {
  // Where there is no /proc, the browser's own word has to do.
  return tryTo(() => readdirSync('/proc'), [])
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function read(path: string): string {
  return tryTo(() => readFileSync(path, 'utf8'), '')
}

function tryTo<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch {
    return otherwise
  }
}

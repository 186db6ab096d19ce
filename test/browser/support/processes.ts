import { readdirSync, readFileSync } from 'node:fs'

/** In the environment of a browser's main process and of those that leave its group. */
export const MARK = 'HOLDFAST_TEST_BROWSER'

export interface BrowserProcesses {
  /** The main process, whose number is that of the group. */
  readonly pid: number
  readonly mark: string
}

/** All that run of a browser. Those that have ended, but that nobody has taken note of, do not count. */
export function processesOf({ pid, mark }: BrowserProcesses): number[] {
  return pids().filter((one) => {
    const { group, isEnded } = standing(one)
    return !isEnded && (group === pid || environment(one).includes(`${MARK}=${mark}`))
  })
}

/** Resolves when none of them is left. */
export async function gone(browser: BrowserProcesses): Promise<void> {
  for (const start = Date.now(); processesOf(browser).length > 0; await new Promise((next) => setTimeout(next, 10)))
    if (Date.now() - start > 10_000) throw new Error(`Still running: ${processesOf(browser).join(', ')}`)
}

function pids(): number[] {
  // Where there is no /proc, the browser's own word has to do.
  return tryTo(() => readdirSync('/proc'), [])
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** `pid (name) state parent group ...`; the name may have spaces and brackets of its own. */
function standing(pid: number): { group: number; isEnded: boolean } {
  const text = tryTo(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
  const [state = 'Z', , group] = text.slice(text.lastIndexOf(') ') + 2).split(' ')
  return { group: Number(group), isEnded: state === '' || state === 'Z' || state === 'X' }
}

function environment(pid: number): string[] {
  return tryTo(() => readFileSync(`/proc/${pid}/environ`, 'utf8'), '').split('\0')
}

function tryTo<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch {
    return otherwise
  }
}

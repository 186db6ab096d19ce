/** `problem`: data are at risk, or something is stuck and no process will get it going. `warning`: worth a look. */
export type Level = 'ok' | 'warning' | 'problem'

/** What one check of `doctor` has seen. */
export interface Finding {
  readonly check: string
  readonly level: Level
  readonly found: string
  /** What to do; undefined where nothing is to be done. */
  readonly advice?: string | undefined
}

export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found }
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice }
}

export function problem(check: string, found: string, advice: string): Finding {
  return { check, level: 'problem', found, advice }
}

/** Some keys, so that the next command can be typed. */
export function someKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_KEYS).join(', ')
  return keys.length > MOST_KEYS ? `${shown} and ${keys.length - MOST_KEYS} more` : shown
}

const MOST_KEYS = 3

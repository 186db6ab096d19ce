import type { HuntResult } from './hunt.ts'

const COUNTED = ['lost', 'doubled', 'changed', 'untold', 'failed'] as const

/** What is wrong with a hunt, in words; empty where nothing is. */
export function faultsOf(result: HuntResult): string[] {
  const counted = COUNTED.filter((name) => result[name] > 0).map((name) => `${result[name]} operations ${name}`)
  return [...counted, ...result.falseClaims, ...result.neverStruck]
}

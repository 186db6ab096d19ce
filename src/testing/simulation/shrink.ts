import { type History, type HistoryOptions, runHistory } from './history.ts'

/**
 * Leaves faults out as long as the same promise is still broken. Cheap, since every fault has dice of its own: without
 * one, the others fall as before. The answer is what can be left out.
 */
export async function shrink(history: History, options: HistoryOptions): Promise<ReadonlySet<string>> {
  const promises = new Set(history.broken.map(({ promise }) => promise))
  let without = new Set(options.without)
  for (const fault of history.faults) {
    const fewer = new Set([...without, fault])
    const { broken } = await runHistory(history.seed, { ...options, without: fewer })
    if (broken.some(({ promise }) => promises.has(promise))) without = fewer
  }
  return without
}

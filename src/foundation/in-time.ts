import { type Clock, startTimer } from './clock.ts'

/** What the work gives, or a rejection with `late()` if that takes longer than `ms`. No timer stays behind. */
export function inTime<T>(
  clock: Clock,
  work: Promise<T>,
  limit: { readonly ms: number; readonly late: () => unknown },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancelTimer = startTimer(clock, limit.ms, () => reject(limit.late()))
    work.finally(cancelTimer).then(resolve, reject)
  })
}

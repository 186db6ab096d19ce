import { type Clock, startTimer } from '../../foundation/clock.ts'
import type { TransportRequest } from '../transport/port.ts'

/** For a status that is retried anyway: its head has said all. */
const RETRIED_MS = 1000
/** For any other: its body may say why. */
const FINAL_MS = 5000

/** How long the body of an answer that is no success is waited for: a server that stalls must not hold the caller. */
export function boundBody(clock: Clock, retried: ReadonlySet<number>): NonNullable<TransportRequest['boundBody']> {
  return (status, cut) => startTimer(clock, retried.has(status) ? RETRIED_MS : FINAL_MS, cut)
}

import type { CallPlan } from '../plan.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'
import type { CallFact } from './facts.ts'
import { labelOf, type Shadow } from './shadow.ts'

/** The calls that were made, and which process made them. */
export class CallBook {
  readonly calls: CallFact[] = []
  /** Until when a process may send an operation, by its clock, by process and key or label. */
  readonly #business = new Map<string, number>()

  /** A process makes a call, and may send it for as long as that has time. */
  enter(process: SimulatedProcess, plan: CallPlan, at: number): CallFact {
    const fact = { plan, process, at, elapsedAt: process.elapsedMs, accepted: false, result: undefined }
    this.calls.push(fact)
    this.allow(process, plan.label, plan.deadlineMs)
    return fact
  }

  /** From now on, and for so long, this process may send it. */
  allow(process: SimulatedProcess, keyOrLabel: string, ms: number): void {
    const until = Math.max(this.#until(process, keyOrLabel), process.clock.now() + ms)
    this.#business.set(`${process.name} ${keyOrLabel}`, until)
  }

  /** Undefined where the process has no business to send it. */
  allowedUntil(process: SimulatedProcess, { key, label }: Pick<Sent, 'key' | 'label'>): number | undefined {
    const until = Math.max(this.#until(process, key), this.#until(process, label))
    return until === 0 ? undefined : until
  }

  #until(process: SimulatedProcess, keyOrLabel: string): number {
    return this.#business.get(`${process.name} ${keyOrLabel}`) ?? 0
  }

  /** Has this process itself called for it? Then what its call brings is what it means. */
  asksFor(process: SimulatedProcess, label: string): boolean {
    return this.calls.some((call) => call.process === process && call.plan.label === label)
  }

  /** The record of an answer to `client.fetch` has no body: a call with its key asks the server itself, in memory. */
  asksAgain(process: SimulatedProcess, shadow: Shadow | undefined): boolean {
    if (shadow?.status !== 'succeeded') return false
    const label = labelOf(shadow)
    return this.calls.some(
      ({ process: by, plan }) => by === process && plan.through === 'fetch' && plan.label === label,
    )
  }
}

import { startTimer } from '../../../foundation/clock.ts'
import { urlParts } from '../../../foundation/parsed-url.ts'
import type { Transport } from '../../transport/port.ts'
import type { Engine } from '../engine.ts'
import { isOffline } from './online.ts'

/** The first check after something has waited for so long, and each later one after a pause that doubles. */
const FIRST_PAUSE_MS = 3000
/** A call of 30 s is checked for at least twice. */
const LONGEST_PAUSE_MS = 15_000
/** A network that is away says so at once. */
const PATIENCE_MS = 5000

type Parts = Pick<Engine, 'clock' | 'coordination' | 'gates' | 'transport'>

/**
 * Platforms say that they are offline when they are not: beside a VPN, in a virtual machine, with a server on the same
 * machine. While something waits for the network, one request that belongs to no operation looks whether anything answers:
 * whatever becomes of it, no attempt is used up, and nothing may have been done.
 */
export class NetworkCheck {
  readonly #parts: Parts
  readonly #reaches: NonNullable<Transport['reaches']> | undefined
  readonly #wanted = new Set<{ readonly url: string }>()
  #isChecking = false
  #cancelTimer: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#reaches = parts.transport.reaches?.bind(parts.transport)
  }

  /** Something waits for the network, to be sent to this URL. The returned function ends that. */
  wanted(url: string): () => void {
    const wanted = { url }
    this.#wanted.add(wanted)
    if (this.#wanted.size === 1 && !this.#isChecking) this.#checkAfter(FIRST_PAUSE_MS)
    return () => {
      this.#wanted.delete(wanted)
      if (this.#wanted.size === 0) this.#cancelTimer?.()
    }
  }

  #checkAfter(ms: number): void {
    if (this.#reaches) this.#cancelTimer = startTimer(this.#parts.clock, ms, () => void this.#checkOn(ms))
  }

  async #checkOn(pauseMs: number): Promise<void> {
    const [first] = this.#wanted
    if (!first) return
    this.#isChecking = true
    await this.check(first.url)
    this.#isChecking = false
    if (this.#wanted.size > 0) this.#checkAfter(Math.min(LONGEST_PAUSE_MS, 2 * pauseMs))
  }

  /** If something answers, the platform's word does not count until it says anew that it is offline. */
  async check(url: string): Promise<void> {
    const reaches = this.#reaches
    if (!reaches || !isOffline(this.#parts)) return
    if (await this.#passGate(url, (signal) => reaches(url, signal))) this.#parts.coordination.foundOnline?.()
  }

  /** It takes a place at the gate of its origin, and does not wait for one. */
  async #passGate(url: string, ask: (signal: AbortSignal) => Promise<boolean>): Promise<boolean> {
    const { clock, gates } = this.#parts
    const gate = gates.of(urlParts(url).origin)
    const entry = gate.enter({ kind: 'call', leaveAt: clock.now() })
    if (entry?.is !== 'sent') return false
    const controller = new AbortController()
    const cancelTimer = startTimer(clock, PATIENCE_MS, () => controller.abort())
    const isReached = await ask(controller.signal)
    cancelTimer()
    gate.withdraw(entry)
    return isReached
  }
}

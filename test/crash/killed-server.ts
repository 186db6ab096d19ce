import { type CountedOperation, type CountingReport, CountingServer, type Fate } from '../support/counting-server.ts'

/** A server that fails in every way, often. */
const FLAKY = { answer: 40, slow: 20, lose: 15, reset: 10, unavailable: 10, hang: 1 }
/** Among the first requests each of these is met. */
const FIRST: readonly Fate[] = ['answer', 'reset', 'slow', 'lose', 'unavailable']

/** A flaky server that is killed now and then, and comes back with its effects on the same port. */
export class KilledServer {
  readonly #effects: string
  readonly #seed: number
  #server: CountingServer
  #before: CountingReport | undefined
  #starts = 0

  private constructor(server: CountingServer, effects: string, seed: number) {
    this.#server = server
    this.#effects = effects
    this.#seed = seed
  }

  static async start(effects: string, seed: number): Promise<KilledServer> {
    const killed = new KilledServer(await CountingServer.start(effects), effects, seed)
    await killed.#setMode()
    return killed
  }

  get origin(): string {
    return this.#server.origin
  }

  /** SIGKILL: what was on its way breaks off, and whatever was done stays done. */
  async kill(): Promise<void> {
    const { port } = this.#server
    this.#before = merged(this.#before, await this.#server.lastReport())
    await this.#server.stop()
    this.#server = await CountingServer.start(this.#effects, port)
    await this.#setMode()
  }

  async report(): Promise<CountingReport> {
    return merged(this.#before, await this.#server.report())
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }

  async #setMode(): Promise<void> {
    const script = this.#starts === 0 ? FIRST : []
    await this.#server.mode({ weights: FLAKY, seed: this.#seed + this.#starts++, script })
  }
}

/** Effects outlive a kill and are in the later report; what else was counted is in both. */
function merged(before: CountingReport | undefined, after: CountingReport): CountingReport {
  if (!before) return after
  const operations: Record<string, CountedOperation> = { ...before.operations }
  for (const [key, one] of Object.entries(after.operations))
    operations[key] = mergedOperation(before.operations[key], one)
  const fates = { ...before.fates }
  for (const [fate, count] of Object.entries(after.fates) as [Fate, number][]) fates[fate] = (fates[fate] ?? 0) + count
  return {
    requests: before.requests + after.requests,
    effects: after.effects,
    replays: before.replays + after.replays,
    complaints: [...before.complaints, ...after.complaints],
    fates,
    operations,
  }
}

function mergedOperation(before: CountedOperation | undefined, after: CountedOperation): CountedOperation {
  if (!before) return after
  return {
    ...after,
    requests: before.requests + after.requests,
    fresh: before.fresh + after.fresh,
    replayed: before.replayed + after.replayed,
    bodies: [...new Set([...before.bodies, ...after.bodies])],
  }
}

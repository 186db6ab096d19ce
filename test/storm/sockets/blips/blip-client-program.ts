/** The client of a trial, in a process of its own. */
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { isHoldfastError } from '../../../../src/index.ts'
import { type Lag, watchLag } from '../lag.ts'
import { BLIP_CLIENTS, type BlipClient } from './blip-clients.ts'
import { type BlipTrial, type ClientName, callsEndMs, clientsOf, DRAIN_MS } from './blip-trial.ts'

export interface BlipClientOrder {
  readonly client: ClientName
  readonly url: string
  /** Of a server that is well: whatever befalls the other one, calls to it must not suffer. */
  readonly besideUrl: string
  /** Epoch milliseconds with fractions, on the clock that both processes share. */
  readonly startAt: number
  /** Absent: only load and compile everything that is slow once. */
  readonly trial?: BlipTrial
}

/** Times are milliseconds from the start of the run. */
export interface BlipCall {
  readonly key: string
  /** To the server that is well. */
  readonly isBeside: boolean
  readonly startedAt: number
  attempts: number
  endedAt: number
  /** Absent: the call succeeded. */
  failure?: string | undefined
}

export interface BlipClientReport {
  readonly calls: readonly BlipCall[]
  readonly lag: Lag
}

const WARM_UP_CALLS = 300
const CLOSE_MS = 5000

class BlipCalls {
  readonly #order: BlipClientOrder
  readonly #clients: BlipClient[]
  readonly #calls = new Map<string, BlipCall>()
  readonly #open: Promise<void>[] = []

  constructor(order: BlipClientOrder, clients: number) {
    const { client } = order
    this.#order = order
    const attempted = (key: string): void => {
      const call = this.#calls.get(key)
      if (call) call.attempts++
    }
    this.#clients = Array.from({ length: clients }, () => BLIP_CLIENTS[client]({ attempted }))
  }

  async warmUp(): Promise<void> {
    for (let index = 0; index < WARM_UP_CALLS; index++) await Promise.all(this.#callBoth(index))
    await this.#close()
  }

  async run(trial: BlipTrial): Promise<BlipCall[]> {
    await this.#begin(trial)
    await Promise.race([Promise.all(this.#open), sleep(DRAIN_MS)])
    await this.#close()
    return [...this.#calls.values()]
  }

  get #now(): number {
    return performance.timeOrigin + performance.now() - this.#order.startAt
  }

  /** At a steady rate, each client in its turn. */
  async #begin(trial: BlipTrial): Promise<void> {
    const gapMs = 1000 / (trial.perSecond * this.#clients.length)
    const calls = Math.floor(callsEndMs(trial) / gapMs)
    for (let index = 0; index < calls; index++) {
      const waitMs = (index + 0.5) * gapMs - this.#now
      if (waitMs > 0) await sleep(waitMs)
      this.#open.push(...this.#callBoth(index))
    }
  }

  #callBoth(index: number): Promise<void>[] {
    const { url, besideUrl } = this.#order
    const client = this.#clients[index % this.#clients.length]
    if (!client) return []
    return [
      this.#call({ key: `call-${index}`, isBeside: false }, (key) => client.post(url, key)),
      this.#call({ key: `beside-${index}`, isBeside: true }, (key) => client.post(besideUrl, key)),
    ]
  }

  async #call(
    { key, isBeside }: Pick<BlipCall, 'key' | 'isBeside'>,
    post: (key: string) => PromiseLike<unknown>,
  ): Promise<void> {
    const call: BlipCall = {
      key,
      isBeside,
      startedAt: this.#now,
      attempts: 0,
      endedAt: Number.NaN,
      failure: 'not over',
    }
    this.#calls.set(key, call)
    try {
      await post(key)
      call.failure = undefined
    } catch (error) {
      call.failure = reasonOf(error)
    }
    call.endedAt = this.#now
  }

  async #close(): Promise<void> {
    await Promise.race([Promise.all(this.#clients.map((client) => client.close?.())), sleep(CLOSE_MS)])
  }
}

interface AnyFailure {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  readonly cause?: AnyFailure
  readonly response?: { readonly status?: number; readonly statusCode?: number }
}

/** The reason of our own errors, and for the others the status or the code of the last attempt. */
function reasonOf(error: unknown): string {
  if (isHoldfastError(error)) return error.reason ?? error.code
  const { name, message, code, cause, response } = error as AnyFailure
  return String(response?.status ?? response?.statusCode ?? cause?.code ?? code ?? (name === 'Error' ? message : name))
}

async function conduct(order: BlipClientOrder): Promise<BlipClientReport> {
  const { trial } = order
  const calls = new BlipCalls(order, trial ? clientsOf(trial) : 1)
  const lag = watchLag()
  if (trial) return { calls: await calls.run(trial), lag: lag() }
  await calls.warmUp()
  return { calls: [], lag: lag() }
}

process.on('message', async (order: BlipClientOrder) => process.send?.(await conduct(order)))
process.on('disconnect', () => process.exit())

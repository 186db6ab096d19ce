import type { Client } from '../../client/client.ts'
import type { OperationHandle } from '../../client/operation-handle.ts'
import type { CallOptions } from '../../client/options.ts'
import { bodyOf, ofUser } from './call-arguments.ts'
import type { Backlog, CallPlan, OutboxPlan } from './plan.ts'
import type { SimulatedDisk } from './simulated-disk.ts'
import type { SimulatedProcess } from './simulated-process.ts'

interface OutboxCall extends OutboxPlan, Pick<CallPlan, 'method'> {
  readonly url: string
}

/** Writes operations in transactions of the program's own, and sends them before or after these have ended. */
export class ProgramOutbox {
  readonly #client: Client
  readonly #process: SimulatedProcess
  readonly #disk: SimulatedDisk

  constructor(client: Client, process: SimulatedProcess, disk: SimulatedDisk) {
    this.#client = client
    this.#process = process
    this.#disk = disk
  }

  async call(plan: OutboxCall, options: CallOptions, send: (make: () => OperationHandle) => void): Promise<void> {
    const process = this.#process
    // Where it can't be prepared, nothing was promised.
    const prepared = await this.#client.prepare(plan.method.toUpperCase(), plan.url, options).catch(() => undefined)
    if (!prepared || !process.alive) return
    const transaction = this.#disk.begin(process, plan.database)
    await prepared.persist(transaction)
    process.later(plan.endsAfterMs, () => transaction.end(plan.ends))
    process.later(plan.sendsAfterMs, () => send(() => this.#client.send(prepared)))
  }

  /** Writes many, each for the user who is logged in by then, and leaves them to whoever resumes. */
  async layUp({ label, origin, count, name, lane }: Backlog, user: () => string | undefined): Promise<void> {
    const transaction = this.#disk.begin(this.#process, 'sqlite')
    for (let n = 0; n < count; n++) {
      const body = bodyOf({ label: `${label}${n}` })
      const options = {
        body,
        headers: ofUser(user()),
        ...(name === undefined ? {} : { name }),
        ...(lane === undefined ? {} : { lane }),
      }
      const prepared = await this.#client.prepare('POST', `${origin}/${label}${n}`, options).catch(() => undefined)
      await prepared?.persist(transaction)
    }
    if (this.#process.alive) transaction.end('commit')
  }
}

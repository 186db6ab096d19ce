import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Silence {
  readonly ms: number
  /** One connection, or all that there are and all that are opened meanwhile. */
  readonly of: 'one' | 'all'
  /** What becomes of them afterwards: they break, or all that was held up arrives. */
  readonly end: 'broken' | 'resumed'
}

export interface Silenced {
  /** Resolves with whether a byte was held up, as soon as that is known. */
  readonly hit: Promise<boolean>
  readonly over: Promise<void>
}

/**
 * Stands between one replica and its database. Connections through it can fall silent: nothing passes in either
 * direction and nothing is closed, as where a network is partitioned. Each side believes that the other one is there.
 */
export class SilentProxy {
  readonly #server: Server
  readonly #lines = new Set<SilentLine>()
  #isCutOff = false
  #onHeldUp = (): void => {}

  constructor(database: URL) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      const options = { host: database.hostname, port: Number(database.port || 5432), allowHalfOpen: true }
      const upstream = connect(options)
      const line = new SilentLine(client, upstream, () => this.#onHeldUp())
      line.isSilent = this.#isCutOff
      this.#lines.add(line)
      // While it is silent, one half may be closed and the other one not.
      const forget = (): boolean => client.destroyed && upstream.destroyed && this.#lines.delete(line)
      for (const socket of [client, upstream]) socket.once('close', forget)
    })
  }

  /** Resolves with the port that it listens on. */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  silence({ ms, of, end }: Silence): Silenced {
    const lines = of === 'one' ? this.#busiest() : [...this.#lines]
    let hit = (_: boolean): void => {}
    const isHit = new Promise<boolean>((resolve) => {
      hit = resolve
    })
    this.#onHeldUp = () => hit(true)
    if (of === 'all') this.#isCutOff = true
    for (const line of lines) line.isSilent = true
    const over = pause(ms).then(() => {
      hit(false)
      this.#isCutOff = false
      for (const line of this.#lines) if (line.isSilent) line.endSilence(end)
    })
    return { hit: isHit, over }
  }

  stop(): void {
    this.#server.close()
    for (const line of this.#lines) line.endSilence('broken')
  }

  #busiest(): SilentLine[] {
    return [...this.#lines].sort((one, other) => other.usedAt - one.usedAt).slice(0, 1)
  }
}

/** One connection and its other half. */
class SilentLine {
  isSilent = false
  /** Of `performance.now()`. */
  usedAt = performance.now()
  readonly #sockets: readonly Socket[]
  readonly #onHeldUp: () => void
  #heldUp: (() => void)[] = []

  constructor(client: Socket, upstream: Socket, onHeldUp: () => void) {
    this.#sockets = [client, upstream]
    this.#onHeldUp = onHeldUp
    this.#forward(client, upstream)
    this.#forward(upstream, client)
  }

  endSilence(end: Silence['end']): void {
    this.isSilent = false
    const heldUp = this.#heldUp.splice(0)
    if (end === 'broken') for (const socket of this.#sockets) socket.destroy()
    else for (const pass of heldUp) pass()
  }

  #forward(from: Socket, to: Socket): void {
    from.on('data', (data) => {
      this.usedAt = performance.now()
      if (this.isSilent) this.#onHeldUp()
      this.#pass(() => to.write(data))
    })
    from.on('end', () => this.#pass(() => to.end()))
    from.on('close', () => this.#pass(() => to.destroy()))
    from.on('error', () => {})
    to.on('error', () => {})
  }

  #pass(step: () => void): void {
    if (this.isSilent) this.#heldUp.push(step)
    else step()
  }
}

import { framed } from '../../../foundation/digest.ts'
import { sha256 } from '../../../foundation/sha256.ts'
import { composeLedger } from '../../../server/compose-ledger.ts'
import type { EffectReturn } from '../../../server/entry/reply.ts'
import type { LedgerEvent } from '../../../server/guard/events.ts'
import type { Observation } from '../observations.ts'
import type { LedgerAccount } from '../oracle/ledger-account.ts'
import { type CrashRule, SimulatedProcess } from '../simulated-process.ts'
import type { Reply, Sent, WireAnswer } from '../wire.ts'
import type { World } from '../world.ts'
import type { DurableLedger } from './durable-ledger.ts'
import { LedgerWork } from './ledger-work.ts'
import type { EffectBook, Provider } from './provider.ts'
import { ReplicaWire } from './replica-wire.ts'
import type { SimulatedTransaction } from './simulated-effect.ts'
import { SimulatedFramework } from './simulated-framework.ts'
import { SimulatedLedgerStore, storeTravel } from './simulated-ledger-store.ts'

export interface ReplicaParts {
  readonly world: World
  readonly durable: DurableLedger
  readonly book: EffectBook
  readonly provider: Provider
  readonly account: LedgerAccount
  readonly endsAt: CrashRule
}

/** The right time, by a machine whose clock stays as it is. */
const MACHINE = { name: 'server', aheadMs: 0, leaptMs: 0 }

/** One life of a server process: the real ledger on a simulated store, in front of a handler. */
export class Replica {
  readonly process: SimulatedProcess
  readonly wire: ReplicaWire
  readonly #world: World
  readonly #account: LedgerAccount
  readonly #handler: (request: Request, sent: Sent) => Promise<Response>
  /** Connections of requests that have no answer yet. */
  readonly #connections = new Set<Reply>()
  readonly #onEnd = new Set<() => void>()

  constructor(name: string, parts: ReplicaParts) {
    const { world, endsAt } = parts
    this.#world = world
    this.#account = parts.account
    this.process = new SimulatedProcess(world, { name, machine: MACHINE, endsAt })
    this.wire = new ReplicaWire(world)
    const { ledger: plan, windowMs } = world.plan
    const work = new LedgerWork({ ...parts, process: this.process })
    const reconciles = plan.reconcile === 'asks-the-provider'
    const ledger = composeLedger<SimulatedTransaction, EffectReturn, Request>(
      { digest, decodeBody: () => undefined, warn: () => {} },
      {
        store: this.#openStore(parts),
        scope: 'public',
        external: plan.work === 'external',
        reconcile: reconciles ? (entry) => work.reconcile(entry) : undefined,
        retention: windowMs,
        lease: plan.leaseMs,
        inFlight: plan.inFlight,
        clock: this.process.clock,
        observe: (event) => this.#observe(event),
      },
    )
    const framework = new SimulatedFramework(ledger, { world, process: this.process })
    this.#handler =
      plan.adapter === 'framework'
        ? (request, sent) => framework.serve(request, (context) => work.handle(context, sent))
        : ledger.protect((_request, context, sent: Sent) => work.handle(context, sent))
    ledger.startReaper({ every: plan.reapEveryMs, reconcile: reconciles })
    this.process.onEnd = () => this.#end()
  }

  #openStore(parts: ReplicaParts): SimulatedLedgerStore {
    const { process, wire } = this
    const onEnd = (callback: () => void): (() => void) => this.onEnd(callback)
    return new SimulatedLedgerStore({ ...parts, process, wire, travelMs: storeTravel(parts.world), onEnd })
  }

  /** Calls back when the process ends; the returned function takes it back. */
  onEnd(callback: () => void): () => void {
    this.#onEnd.add(callback)
    return () => void this.#onEnd.delete(callback)
  }

  /** A frozen replica takes the connection, and serves it when it thaws. */
  serve(sent: Sent, reply: Reply): void {
    this.#connections.add(reply)
    this.process.later(0, () => void this.#serve(sent, reply))
  }

  async #serve(sent: Sent, reply: Reply): Promise<void> {
    const answer = await this.#answer(sent)
    if (!this.#connections.delete(reply)) return
    this.#world.say(this.process.name, `answers request ${sent.number} (${sent.label}): ${answer.status}`)
    this.#account.answered(sent, answer)
    reply(answer)
  }

  async #answer(sent: Sent): Promise<WireAnswer> {
    const { method, url, body } = sent
    const headers = new Headers(sent.headers.map(([name, value]): [string, string] => [name, value]))
    try {
      const response = await this.#handler(
        new Request(url, { method, headers, body: body && new Uint8Array(body) }),
        sent,
      )
      return { status: response.status, headers: [...response.headers], body: await response.text() }
    } catch {
      return { status: 500, headers: [], body: '' }
    }
  }

  #end(): void {
    for (const callback of this.#onEnd) callback()
    const cut = [...this.#connections]
    this.#connections.clear()
    for (const reply of cut) reply('reset')
  }

  #observe(event: LedgerEvent): void {
    const { oracle } = this.#world
    const observation = observationOf(event)
    if (observation) oracle.observed(observation)
    if (this.#world.traced) this.#world.say(this.process.name, describe(event))
  }
}

const SIGHTS: Partial<Record<string, Observation>> = {
  'entry.abandoned': 'entry abandoned',
  'entry.released': 'entry released',
  'entry.replayed': 'replayed answer',
  'claim.lost': 'claim lost',
  'in-flight': 'in-flight answer',
  'outcome-unknown': 'outcome-unknown answer',
  'key-reused': 'key-reused answer',
  unavailable: 'unavailable answer',
}

function observationOf(event: LedgerEvent): Observation | undefined {
  if (event.type === 'entry.claimed') return event.takenOver ? 'entry taken over' : undefined
  return SIGHTS[event.type === 'request.refused' ? event.reason : event.type]
}

function describe(event: LedgerEvent): string {
  const details = [
    'reason' in event ? event.reason : '',
    'attempt' in event ? `attempt ${event.attempt}` : '',
    'status' in event && event.status !== undefined ? String(event.status) : '',
    'error' in event && event.error !== undefined ? String(event.error) : '',
  ].filter((detail) => detail !== '')
  return `emits: ${[event.type, ...details].join(', ')}`
}

function digest(texts: readonly string[], bytes: Uint8Array | null): string {
  let hex = ''
  for (const byte of sha256(framed(texts, bytes))) hex += byte.toString(16).padStart(2, '0')
  return hex
}

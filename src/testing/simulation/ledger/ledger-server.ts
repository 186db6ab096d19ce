import type { Entry } from '../../../server/entry/entry.ts'
import { Gates, refusingAnswer } from '../gates.ts'
import { isHonest } from '../oracle/claim-rules.ts'
import { isLasting, LedgerAccount } from '../oracle/ledger-account.ts'
import { judgeRows } from '../oracle/row-rule.ts'
import { BEGINNING } from '../plan.ts'
import type { SimulatedCrashPoint } from '../vocabulary.ts'
import type { Effect, Reply, Sent, WireAnswer, WireServer } from '../wire.ts'
import type { World } from '../world.ts'
import { DurableLedger } from './durable-ledger.ts'
import { EffectBook, Provider } from './provider.ts'
import { Replica } from './replica.ts'
import { Strangers } from './strangers.ts'

/** The real ledger as the server of a history: replicas that end, freeze and start again, over one store. */
export class LedgerServer implements WireServer {
  readonly #world: World
  readonly #durable = new DurableLedger()
  readonly #book: EffectBook
  readonly #provider: Provider
  readonly #account: LedgerAccount
  readonly #gates: Gates
  readonly #traps: { readonly point: SimulatedCrashPoint; readonly occurrence: number; reached: number }[]
  readonly #replicas: Replica[] = []
  readonly #received = new Set<number>()
  #lives = 0
  #downUntil = 0

  constructor(world: World) {
    this.#world = world
    const { plan, oracle, timeline } = world
    this.#account = new LedgerAccount(oracle, { honest: isHonest(plan), now: () => timeline.now })
    this.#book = new EffectBook(world, this.#account)
    this.#provider = new Provider(world, this.#book)
    this.#gates = new Gates(world)
    this.#traps = plan.ledger.crashes.map((crash) => ({ ...crash, reached: 0 }))
    for (let place = 0; place < plan.ledger.replicas; place++) this.#start(place)
    for (const { at, replica, ms } of plan.ledger.freezes) timeline.at(at, () => this.#freeze(replica, ms))
    this.#holdUp()
    this.#letStrangersCome()
  }

  listens(): boolean {
    if (this.#world.calm) this.#startAll()
    return this.#living.length > 0
  }

  effects(): readonly Effect[] {
    return this.#book.list
  }

  get backAt(): number {
    return Math.max(this.#downUntil, ...this.#living.map(({ process }) => process.thawsAt))
  }

  stopFor(ms: number): void {
    const { timeline } = this.#world
    this.#world.happened('outage')
    this.#downUntil = Math.max(this.#downUntil, timeline.now + ms)
    for (const { process } of this.#living) process.end(`stops, and is not back for ${ms} ms`)
  }

  receive(sent: Sent, reply: Reply): void {
    if (this.#isUnfair(sent)) return
    const refused = this.#gates.of(sent)
    const living = this.#living
    if (refused) reply(refused)
    else if (living.length === 0) reply('reset')
    else
      this.#world
        .dice('replica')
        .pick(living)
        .serve(sent, (answer) => reply(this.#passOn(answer)))
  }

  /**
   * A client that does not count on keys takes "503, come back in a second" for the last word on its request. A copy of
   * that request, made by the network, could do it all the same; no client can help that.
   */
  #isUnfair({ number }: Sent): boolean {
    const isCopy = this.#received.has(number)
    this.#received.add(number)
    return isCopy && !this.#world.plan.honoursKeys
  }

  /** The history is over: what is on record now stays. */
  async judgeEnd(): Promise<void> {
    const entries: Entry[] = []
    for await (const entry of this.#durable.store.entries({})) entries.push(entry)
    const { timeline, plan, oracle } = this.#world
    this.#account.judgeEnd(entries, BEGINNING + timeline.now)
    if (plan.ledger.work !== 'external' || plan.ledger.records === 'after' || !isHonest(plan)) return
    for (const violation of judgeRows(oracle.calls, entries, this.#book.rows)) oracle.breaks(violation)
  }

  get #living(): Replica[] {
    return this.#replicas.filter(({ process }) => process.alive)
  }

  /** A proxy in front of the server, which may have an answer of its own. */
  #passOn(answer: WireAnswer | 'reset'): WireAnswer | 'reset' {
    const world = this.#world
    if (answer === 'reset' || answer.status !== 201) return answer
    if (world.strikes('gateway-error-after')) return refusingAnswer(502)
    return world.strikes('do-not-retry-after') ? refusingAnswer(500, [['do-not-retry', 'true']]) : answer
  }

  #startAll(): void {
    this.#replicas.forEach(({ process }, place) => {
      if (!process.alive) this.#start(place)
    })
  }

  #start(place: number): void {
    const name = `S${++this.#lives}`
    this.#world.say(name, 'starts')
    const replica = new Replica(name, {
      world: this.#world,
      durable: this.#durable,
      book: this.#book,
      provider: this.#provider,
      account: this.#account,
      endsAt: (point) => this.#endsAt(point),
    })
    this.#replicas[place] = replica
    replica.onEnd(() => this.#restart(place))
  }

  #restart(place: number): void {
    const { timeline, plan } = this.#world
    const at = Math.max(this.#downUntil, timeline.now + plan.ledger.restartAfterMs)
    timeline.at(at, () => {
      if (this.#replicas[place]?.process.alive) return
      if (timeline.now < this.#downUntil) this.#restart(place)
      else this.#start(place)
    })
  }

  /** Straight to a replica: what stands before the server, and the network, is between it and the clients. */
  #letStrangersCome(): void {
    const deliver = (sent: Sent, reply: Reply): void => {
      if (this.listens()) this.#world.dice('strangers').pick(this.#living).serve(sent, reply)
      else reply('reset')
    }
    new Strangers(this.#world, deliver, isLasting).come()
  }

  #holdUp(): void {
    const { plan, timeline } = this.#world
    const { starvations, cutOffs } = plan.ledger
    for (const { at, replica, ms, calls } of starvations) {
      timeline.at(at, () => this.#replicas[replica]?.wire.starve(ms, calls))
    }
    for (const { at, replica, ms, calls } of cutOffs) {
      timeline.at(at, () => this.#replicas[replica]?.wire.cut(ms, calls))
    }
  }

  #freeze(place: number, ms: number): void {
    const replica = this.#replicas[place]
    if (this.#world.calm || !replica?.process.alive) return
    this.#world.happened('ledger-freeze')
    replica.process.freeze(ms)
  }

  #endsAt(point: SimulatedCrashPoint): boolean {
    let ends = false
    for (const trap of this.#traps) {
      if (trap.point === point && ++trap.reached === trap.occurrence) ends = true
    }
    if (ends) this.#world.happened('ledger-crash')
    return ends
  }
}

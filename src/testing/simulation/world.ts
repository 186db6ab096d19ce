import type { Coverage } from './coverage.ts'
import { type Dice, diceFor } from './dice.ts'
import type { Oracle } from './oracle/oracle.ts'
import { BEGINNING, type Plan, type Trouble, USERS } from './plan.ts'
import { Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'
import type { Fault } from './vocabulary.ts'

/** How likely a fault strikes, each time that it could, in a history that has it. */
const STRIKES: Partial<Record<Fault, number>> = {
  refused: 0.3,
  'request-lost': 0.25,
  'answer-lost': 0.35,
  'half-open': 0.2,
  'slow-network': 0.4,
  duplicate: 0.3,
  'late-duplicate': 0.25,
  'server-crash-before': 0.2,
  'server-crash-after': 0.2,
  busy: 0.5,
  'busy-with-timing': 0.3,
  'do-not-retry': 0.3,
  'do-not-retry-after': 0.3,
  'gateway-error-after': 0.3,
  declined: 0.5,
  unauthorized: 0.3,
  'disk-answer-lost': 0.1,
  'disk-slow': 0.25,
  'handler-throws': 0.4,
  'handler-slow': 0.3,
  'handler-leaves': 0.3,
  'body-lost': 0.3,
  'odd-body': 0.6,
  'store-blinks': 0.06,
  'headers-slow': 0.3,
  'messages-slow': 0.5,
  'locks-slow': 0.5,
  'locks-unknown': 0.3,
  'ledger-store-slow': 0.15,
  'ledger-store-blinks': 0.15,
  'ledger-store-answer-lost': 0.12,
  'ledger-record-fails': 0.6,
  'work-fails': 0.4,
  'work-fails-after': 0.4,
  'work-slow': 0.4,
  'duplicate-burst': 0.5,
  'work-throws-refusal': 0.4,
  'work-ends-transaction': 0.3,
  'framework-timeout': 0.4,
  'router-answers': 0.25,
  'router-retries': 0.3,
  'program-exits': 0.5,
  'fetch-retries': 0.5,
  'connection-silent': 0.06,
}

/** A machine has a clock of its own, which people and programs set. */
export interface Machine {
  readonly name: string
  aheadMs: number
  /** How far it was set ahead in all; what was set back does not count. */
  leaptMs: number
}

/** What a history happens in. */
export class World {
  readonly timeline = new Timeline()
  readonly machines: readonly Machine[]
  readonly plan: Plan
  readonly coverage: Coverage
  readonly oracle: Oracle
  readonly #trace: Trace | undefined
  readonly #dice = new Map<string, Dice>()
  #calm = false
  #user: string | undefined
  #handlersBackAt = 0
  readonly #onCalm: (() => void)[] = []

  constructor(
    plan: Plan,
    parts: { readonly coverage: Coverage; readonly oracle: Oracle; readonly trace?: Trace | undefined },
  ) {
    this.plan = plan
    this.coverage = parts.coverage
    this.oracle = parts.oracle
    this.#trace = parts.trace
    if (plan.faults.has('log-in')) this.#user = USERS[0]
    this.machines = Array.from({ length: plan.machines }, (_, n) => ({ name: `machine ${n}`, aheadMs: 0, leaptMs: 0 }))
  }

  dice(purpose: string): Dice {
    let dice = this.#dice.get(purpose)
    if (!dice) {
      dice = diceFor(this.plan.seed, purpose)
      this.#dice.set(purpose, dice)
    }
    return dice
  }

  /** Does this fault strike here and now? */
  strikes(fault: Fault): boolean {
    if (this.#calm || !this.plan.faults.has(fault)) return false
    if (!this.dice(`strike ${fault}`).chance(STRIKES[fault] ?? 0)) return false
    this.happened(fault)
    return true
  }

  happened(fault: Fault): void {
    this.coverage.saw('fault', fault)
  }

  /** Who is logged in, in all tabs: cookies are the browser's. Undefined where nobody has to. */
  get user(): string | undefined {
    return this.#user
  }

  logIn(user: string): void {
    if (this.#user === undefined || user === this.#user) return
    this.#user = user
    this.happened('log-in')
    this.say('browser', `${user} logs in`)
  }

  /** Every handler's database is down for so long. */
  sendHandlersAway(ms: number): void {
    this.#handlersBackAt = Math.max(this.#handlersBackAt, this.timeline.now + ms)
    this.happened('handlers-away')
    this.say('world', `handlers are away for ${ms} ms`)
  }

  /** For how much longer no handler does anything. */
  get handlersAwayMs(): number {
    return this.#calm ? 0 : Math.max(0, this.#handlersBackAt - this.timeline.now)
  }

  get calm(): boolean {
    return this.#calm
  }

  /** From here on nothing goes wrong any more. */
  calmDown(): void {
    this.#calm = true
    this.say('world', 'calm: from here on nothing goes wrong')
    for (const happen of this.#onCalm.splice(0)) happen()
  }

  onCalm(happen: () => void): void {
    if (this.#calm) happen()
    else this.#onCalm.push(happen)
  }

  /** What is wrong with this API now. */
  troubleOf(url: string): Trouble | undefined {
    const { now } = this.timeline
    const isNow = ({ origin, from, until }: Trouble): boolean =>
      url.startsWith(`${origin}/`) && from <= now && now < until
    const trouble = this.#calm ? undefined : this.plan.troubles.find(isNow)
    if (trouble) this.happened(trouble.fault)
    return trouble
  }

  setClock(number: number, ms: number): void {
    const machine = this.machines[number]
    if (!machine) return
    machine.aheadMs += ms
    if (ms > 0) machine.leaptMs += ms
    this.happened(ms > 0 ? 'clock-ahead' : 'clock-back')
    this.say(machine.name, `its clock jumps by ${ms} ms`)
  }

  wallClock({ aheadMs }: Machine): number {
    return BEGINNING + this.timeline.now + aheadMs
  }

  say(actor: string, what: string): void {
    this.#trace?.say(this.timeline.now, actor, what)
  }

  get traced(): boolean {
    return this.#trace !== undefined
  }
}

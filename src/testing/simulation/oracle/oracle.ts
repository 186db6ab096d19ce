import type { Settlement } from '../../../client/engine/recover/deliver.ts'
import type { ClaimedRow, JournalCommand, JournalResult } from '../../../client/journal/port.ts'
import type { TransportOutcome } from '../../../client/transport/port.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Coverage } from '../coverage.ts'
import { type CallPlan, MINUTE, type Plan } from '../plan.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Fault, Sight } from '../vocabulary.ts'
import type { Sent } from '../wire.ts'
import { BudgetRule } from './budget-rule.ts'
import { CallBook } from './call-book.ts'
import { type Claim, judgeClaim, judgeGone, judgeRepeated, knowsMinutes } from './claim-rules.ts'
import { CredentialsRule } from './credentials-rule.ts'
import { EffectAccount } from './effect-account.ts'
import type { BrokenPromise, CallFact, PromiseName, SentFact, Told } from './facts.ts'
import { JournalAccount } from './journal-account.ts'
import { judgeSecrets } from './journal-rules.ts'
import { Roster } from './roster.ts'
import { labelOf, type Shadow } from './shadow.ts'
import { judgeLeaving } from './wire-rules.ts'

/** Where clocks jump, a cancel comes from outside or a page comes back, a lease changes hands while its runner still works. */
const LAWLESS: readonly Fault[] = ['clock-ahead', 'clock-back', 'cancel', 'page-hidden']

/** A tab without work lets go of its lock after half a lease; one with work renews its lease at a third. */
function lettingGoMs(plan: Plan): number {
  if (plan.platform !== 'tabs') return Number.POSITIVE_INFINITY
  return knowsMinutes(plan) ? 15_000 : 0
}

/** A broken promise and how it was broken. */
export type Verdict = readonly [promise: PromiseName, sentence: string]

export interface OracleTerms {
  readonly plan: Plan
  readonly coverage: Coverage
  /** Milliseconds from the history's beginning. */
  readonly now: () => number
  /** How long a run by a resume may take. */
  readonly runDeadlineMs: number
}

/**
 * Watches everything that passes between the clients and the world and knows nothing of how they work. It keeps its
 * own account of the journal, the wire and what callers and handlers were told, and holds the promises against it.
 */
export class Oracle {
  readonly broken: BrokenPromise[] = []
  readonly sents: SentFact[] = []
  readonly #book = new CallBook()
  readonly roster: Roster
  readonly #effects: EffectAccount
  readonly #terms: OracleTerms
  readonly budgets = new Map<string, BudgetRule>()
  readonly #cancelling = new Set<string>()
  readonly #credentials = new CredentialsRule()
  readonly #account: JournalAccount
  readonly #leaseIsLaw: boolean

  constructor(terms: OracleTerms) {
    this.#terms = terms
    this.roster = new Roster(terms.now)
    this.#effects = new EffectAccount(terms.now)
    this.#account = new JournalAccount({
      coverage: terms.coverage,
      now: terms.now,
      breaks: (verdict) => this.breaks(verdict),
      isAlive: (owner) => this.roster.isAlive(owner),
      letGoMs: lettingGoMs(terms.plan),
      keptMs: knowsMinutes(terms.plan) ? MINUTE : 0,
      cancels: (process) => this.#cancelling.has(process),
    })
    const { faults } = terms.plan
    this.#leaseIsLaw = !LAWLESS.some((fault) => faults.has(fault))
  }

  /** What the journal holds, by key. */
  get shadows(): ReadonlyMap<string, Shadow> {
    return this.#account.shadows
  }

  get calls(): readonly CallFact[] {
    return this.#book.calls
  }

  sight(sight: Sight): void {
    this.#terms.coverage.saw('sight', sight)
  }

  breaks(verdict: Verdict | undefined): void {
    if (!verdict) return
    this.broken.push({ promise: verdict[0], sentence: verdict[1], at: this.#terms.now() })
  }

  // The processes and the program.

  born(process: SimulatedProcess): void {
    this.roster.born(process)
    const { burst } = this.#terms.plan
    if (burst !== undefined) this.budgets.set(process.name, new BudgetRule(burst, process.elapsedMs))
  }

  called(process: SimulatedProcess, plan: CallPlan): CallFact {
    const fact: CallFact = { plan, process, at: this.#terms.now(), accepted: false, told: undefined }
    this.budgets.get(process.name)?.begins()
    this.#book.calls.push(fact)
    this.#book.allow(process, plan.label, plan.deadlineMs)
    return fact
  }

  /** P1: accepted means durable. */
  accepted(fact: CallFact): void {
    fact.accepted = true
    const { label } = fact.plan
    for (const shadow of this.shadows.values()) if (labelOf(shadow) === label) return
    this.breaks(['P1', `${label} was called accepted, and is not on disk`])
  }

  told(fact: CallFact, told: Told): void {
    fact.told = told
    if (told.is === 'error' && told.error.reason === 'do-not-retry') this.#learnVerdict(told.error.operation?.key)
    if (told.is === 'error' && told.error.pending) this.sight('kept for later')
    if (told.is === 'response' && !this.#effects.isDone(fact.plan.label)) {
      this.breaks(['P3', `${fact.plan.label} was told a success, and was not done`])
    }
  }

  /** Something says of an operation, now, what became of it. */
  claimed(key: string, claim: Claim): void {
    this.#terms.coverage.saw('claim', `${claim.by}: ${claim.effect}`)
    if (claim.url !== undefined && claim.url !== this.shadows.get(key)?.url) return
    const truth = {
      done: this.doneOf(key),
      doneInThisLife: this.doneInThisLife(key, claim.askedAt),
      plan: this.#terms.plan,
    }
    this.breaks(judgeClaim(claim, truth))
  }

  foundSuccess(key: string, url: string): void {
    this.#terms.coverage.saw('claim', 'a result: success')
    if (this.doneOf(key) === 0 && this.shadows.get(key)?.url === url)
      this.breaks(['P3', 'a result that was looked up says success, and it was not done'])
  }

  /** P4: what has settled within a minute can be read. */
  foundFailure(key: string, error: unknown): void {
    this.#terms.coverage.saw('claim', 'a result: failure')
    this.breaks(judgeGone(error, { shadow: this.shadows.get(key), plan: this.#terms.plan, now: this.#terms.now() }))
  }

  /** Somebody asks this process to cancel something: from here on it may take a lease from whoever works on it. */
  cancels(process: SimulatedProcess): void {
    this.#cancelling.add(process.name)
  }

  /** A handler has done its work. */
  handled(key: string): void {
    const shadow = this.shadows.get(key)
    if (shadow) shadow.taken++
  }

  /** P7: whoever is told of a do-not-retry verdict may rely on it. */
  #learnVerdict(key: string | undefined): void {
    const shadow = key === undefined ? undefined : this.shadows.get(key)
    if (shadow) shadow.verdictKnown = true
  }

  /** A handler is called. */
  handling(key: string, settlement: Pick<Settlement, 'status' | 'error' | 'mayHaveRepeated'>): void {
    const { status, error } = settlement
    const shadow = this.shadows.get(key)
    if (error) this.claimed(key, { effect: error.effect, by: 'a handler' })
    this.breaks(judgeRepeated(settlement, { doneInThisLife: this.doneInThisLife(key), plan: this.#terms.plan }))
    if (error?.reason === 'do-not-retry') this.#learnVerdict(key)
    if (!shadow) this.breaks(['P4', 'a settlement was delivered for an operation that is unknown'])
    else if (shadow.there && shadow.status !== status) {
      this.breaks(['P4', `a handler was told ${status} while the record says ${shadow.status}`])
    }
  }

  // The journal.

  isSettled(key: string): boolean {
    const shadow = this.shadows.get(key)
    return shadow !== undefined && shadow.status !== 'pending'
  }

  /** A batch is durable. */
  journaled(process: SimulatedProcess, commands: readonly JournalCommand[], results: readonly JournalResult[]): void {
    commands.forEach((command, index) => {
      this.breaks(judgeSecrets(command))
      this.#account.follow(process, command, results[index] as JournalResult)
    })
  }

  /** The process learns that the batch is durable: a claim begins a run. */
  acknowledged(
    process: SimulatedProcess,
    commands: readonly JournalCommand[],
    results: readonly JournalResult[],
  ): void {
    commands.forEach((command, index) => {
      if (command.do !== 'claim') return
      for (const row of results[index] as ClaimedRow[]) this.#book.allow(process, row.key, this.#terms.runDeadlineMs)
    })
  }

  // The wire.

  sent(process: SimulatedProcess, sent: Sent): void {
    this.sents.push({ sent, process, at: this.#terms.now(), outcome: undefined })
    const until = this.#book.allowedUntil(process, sent)
    const shadow = this.shadows.get(sent.key)
    const again = this.#book.asksAgain(process, shadow)
    if (again) this.sight('asked again by fetch')
    const asked = this.#book.asksFor(process, sent.label)
    this.breaks(this.#credentials.left(sent, { asked, life: shadow?.bornAt ?? 0 }))
    this.breaks(judgeLeaving({ sent, process, shadow, until, leaseIsLaw: this.#leaseIsLaw && !again }))
  }

  learned(process: SimulatedProcess, sent: Sent, outcome: TransportOutcome): void {
    const fact = this.sents[sent.number - 1]
    if (fact) fact.outcome = outcome
    this.breaks(this.budgets.get(process.name)?.learned(outcome, process.elapsedMs))
  }

  get retries(): number {
    return this.sents.filter(({ sent }) => attemptOf(sent) > 1).length
  }

  /** The same, since it was accepted: where a record was gone, its key begins a life of its own. */
  doneInThisLife(key: string, until?: number): number {
    return this.#effects.inThisLife(key, this.shadows.get(key), until)
  }

  done({ key, label, number }: Pick<Sent, 'key' | 'label' | 'number'>): void {
    this.#effects.done(key, label, this.sents[number - 1]?.at ?? 0)
  }

  /** How often the operation was done that the journal has under this key. */
  doneOf(key: string): number {
    return this.#effects.of(key, this.shadows.get(key))
  }
}

function attemptOf(sent: Sent): number {
  return Number(headerValue(sent.headers, 'holdfast-attempt') ?? 1)
}

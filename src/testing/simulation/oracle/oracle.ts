import type { Settlement } from '../../../client/engine/recover/deliver.ts'
import type { ClaimedRow, JournalCommand, JournalResult } from '../../../client/journal/port.ts'
import type { TransportOutcome } from '../../../client/transport/port.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Observation } from '../observations.ts'
import { type CallPlan, MINUTE, type SlotPlan } from '../plan.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent } from '../wire.ts'
import { BudgetRule } from './budget-rule.ts'
import { CallBook } from './call-book.ts'
import {
  type EffectClaim,
  judgeEffectClaim,
  judgeGone,
  judgeRepeated,
  knowsMinutes,
  leaseIsLaw,
  lockLingerMs,
} from './claim-rules.ts'
import { CredentialsRule } from './credentials-rule.ts'
import { EffectAccount } from './effect-account.ts'
import type { BrokenPromise, CallFact, CallResult, OracleTerms, PromiseName, SentFact } from './facts.ts'
import { JournalAccount } from './journal-account.ts'
import { judgeSecrets } from './journal-rules.ts'
import { Roster } from './roster.ts'
import { labelOf, type Shadow } from './shadow.ts'
import { SuccessAccount } from './success-account.ts'
import { judgeLeaving } from './wire-rules.ts'

/** For one attempt, where the client is not told otherwise. */
const USUAL_TIMEOUT_MS = 10_000

/** A broken promise and how it was broken. */
export type Violation = readonly [promise: PromiseName, sentence: string]

/**
 * Watches everything that passes between the clients and the world and knows nothing of how they work. It keeps its
 * own account of the journal, the wire and what callers and handlers got, and holds the promises against it.
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
  readonly #successes = new SuccessAccount()
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
      releaseAfterMs: lockLingerMs(terms.plan),
      keptMs: knowsMinutes(terms.plan) ? MINUTE : 0,
      cancels: (process) => this.#cancelling.has(process),
    })
    this.#leaseIsLaw = leaseIsLaw(terms.plan)
  }

  /** What the journal holds, by key. */
  get shadows(): ReadonlyMap<string, Shadow> {
    return this.#account.shadows
  }

  get calls(): readonly CallFact[] {
    return this.#book.calls
  }

  observed(observation: Observation): void {
    this.#terms.coverage.saw('observation', observation)
  }

  breaks(verdict: Violation | undefined): void {
    if (!verdict) return
    this.broken.push({ promise: verdict[0], sentence: verdict[1], at: this.#terms.now() })
  }

  // The processes and the program.

  processStarted(process: SimulatedProcess, slot: Pick<SlotPlan, 'origin' | 'trusts'>): void {
    this.roster.started(process)
    this.#credentials.started(process, slot)
    const { budget, options } = this.#terms.plan
    const attemptTimeoutMs = Number(options.attemptTimeout ?? USUAL_TIMEOUT_MS)
    const terms = { attemptTimeoutMs, since: process.elapsedMs }
    if (budget) this.budgets.set(process.name, new BudgetRule({ ...budget, ...terms }))
  }

  called(process: SimulatedProcess, plan: CallPlan): CallFact {
    this.budgets.get(process.name)?.calls(plan.label)
    return this.#book.enter(process, plan, this.#terms.now())
  }

  /** P1: accepted means durable. */
  accepted(fact: CallFact): void {
    fact.accepted = true
    const isOnDisk = [...this.shadows.values()].some((shadow) => labelOf(shadow) === fact.plan.label)
    if (!isOnDisk) this.breaks(['P1', `${fact.plan.label} was called accepted, and is not on disk`])
  }

  callEnded(fact: CallFact, result: CallResult): void {
    fact.result = result
    if (result.is === 'error' && result.error.reason === 'do-not-retry')
      this.#recordVerdict(result.error.operation?.key)
    if (result.is === 'error' && result.error.pending) this.observed('kept for later')
    this.#successes.told(fact, result, this.shadows.values())
    if (result.is === 'response' && !this.#effects.isDone(fact.plan.label)) {
      this.breaks(['P3', `${fact.plan.label} got a success, and was not done`])
    }
  }

  /** Something says of an operation, now, what became of it. */
  claimed(key: string, claim: EffectClaim): void {
    this.#terms.coverage.saw('claim', `${claim.by}: ${claim.effect}`)
    if (claim.url !== undefined && claim.url !== this.shadows.get(key)?.url) return
    const knowable = this.#effects.knowable(key, this.shadows.get(key), claim.askedAt)
    this.breaks(judgeEffectClaim(claim, { done: this.doneOf(key), knowable, plan: this.#terms.plan }))
  }

  foundSuccess(key: string, url: string): void {
    this.#terms.coverage.saw('claim', 'a result: success')
    if (this.doneOf(key) === 0 && this.shadows.get(key)?.url === url)
      this.breaks(['P3', 'a result that was looked up says success, and it was not done'])
  }

  /** P4: what has settled within a minute can be read. */
  foundFailure({ key, url }: { readonly key: string; readonly url: string }, error: unknown): void {
    this.#terms.coverage.saw('claim', 'a result: failure')
    this.breaks(judgeGone(error, { ...this.#terms, shadow: this.shadows.get(key), url, now: this.#terms.now() }))
  }

  /** This process is asked to cancel an operation: from here on it may take the lease of another runner. */
  cancels(process: SimulatedProcess): void {
    this.#cancelling.add(process.name)
  }

  /** A handler has done its work. */
  handled(key: string): void {
    this.shadows.get(key)?.isTaken(this.#terms.now())
  }

  /** P7: a caller or handler that gets a do-not-retry verdict may rely on it. */
  #recordVerdict(key: string | undefined): void {
    const shadow = key === undefined ? undefined : this.shadows.get(key)
    if (shadow) shadow.verdictKnown = true
  }

  /** A handler is called. */
  handling(key: string, settlement: Pick<Settlement, 'status' | 'error' | 'mayHaveRepeated'>): void {
    const { status, error } = settlement
    const shadow = this.shadows.get(key)
    if (shadow) shadow.calledAt ??= this.#terms.now()
    if (error) this.claimed(key, { effect: error.effect, by: 'a handler' })
    this.breaks(judgeRepeated(settlement, { doneInThisLife: this.doneInThisLife(key), plan: this.#terms.plan }))
    if (error?.reason === 'do-not-retry') this.#recordVerdict(key)
    if (!shadow) this.breaks(['P4', 'a settlement was delivered for an operation that is unknown'])
    else if (shadow.there && shadow.status !== status) {
      this.breaks(['P4', `a handler got ${status} while the record says ${shadow.status}`])
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

  /** The process hears that a batch failed: a call whose lease or settlement this was may begin again. */
  journalFailed(process: SimulatedProcess, commands: readonly JournalCommand[]): void {
    this.budgets.get(process.name)?.begins()
    for (const command of commands) this.#successes.notWritten(process, command)
  }

  /** The process gets the result of a durable batch: a claim begins a run. */
  acknowledged(
    process: SimulatedProcess,
    commands: readonly JournalCommand[],
    results: readonly JournalResult[],
  ): void {
    commands.forEach((command, index) => {
      if (results[index] === false) this.#successes.notWritten(process, command)
      if (command.do !== 'claim') return
      for (const { key } of results[index] as ClaimedRow[]) {
        this.#book.allow(process, key, this.#terms.runDeadlineMs)
        this.budgets.get(process.name)?.claimed(key)
      }
    })
  }

  // The wire.

  sent(process: SimulatedProcess, sent: Sent): void {
    this.sents.push({ sent, process, at: this.#terms.now(), outcome: undefined, endedAt: undefined })
    this.breaks(this.budgets.get(process.name)?.leaves(sent, process.elapsedMs))
    const shadow = this.shadows.get(sent.key)
    const again = this.#book.asksAgain(process, shadow)
    if (again) this.observed('asked again by fetch')
    const asked = this.#book.asksFor(process, sent.label)
    this.breaks(this.#credentials.left(process, sent, { asked, life: shadow?.appendedAt ?? 0 }))
    this.breaks(this.#successes.leaves(sent, this.#terms.plan))
    const law = { until: this.#book.allowedUntil(process, sent), leaseIsLaw: this.#leaseIsLaw && !again }
    this.breaks(judgeLeaving({ sent, process, shadow, shadows: this.shadows, ...law }))
  }

  exchangeEnded(process: SimulatedProcess, sent: Sent, outcome: TransportOutcome): void {
    const fact = this.sents[sent.number - 1]
    if (fact) Object.assign(fact, { outcome, endedAt: this.#terms.now() })
    this.budgets.get(process.name)?.ended(sent, outcome, process.elapsedMs)
  }

  get retries(): number {
    return this.sents.filter(({ sent }) => Number(headerValue(sent.headers, 'holdfast-attempt') ?? 1) > 1).length
  }

  /** The same, since it was accepted: where a record was gone, its key begins a life of its own. */
  doneInThisLife(key: string): number {
    return this.#effects.inThisLife(key, this.shadows.get(key))
  }

  done({ key, label, number }: Pick<Sent, 'key' | 'label' | 'number'>): void {
    this.#effects.done(key, label, this.sents[number - 1])
  }

  /** How often the operation was done that the journal has under this key. */
  doneOf(key: string): number {
    return this.#effects.of(key, this.shadows.get(key))
  }
}

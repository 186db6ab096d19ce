import type { ClaimedRow, JournalCommand, JournalResult, JournalRow } from '../../../client/journal/port.ts'
import type { TransportOutcome } from '../../../client/transport/port.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Coverage } from '../coverage.ts'
import type { CallPlan, Plan } from '../plan.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sight } from '../vocabulary.ts'
import type { Sent } from '../wire.ts'
import { BudgetRule } from './budget-rule.ts'
import type { BrokenPromise, CallFact, PromiseName, SentFact, Told } from './facts.ts'
import { judgeClaim, judgeFence, judgeSecrets } from './journal-rules.ts'
import { Shadow } from './shadow.ts'
import { judgeLeaving } from './wire-rules.ts'

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
  readonly shadows = new Map<string, Shadow>()
  readonly sents: SentFact[] = []
  readonly calls: CallFact[] = []
  /** How many effects there were of an operation by now. */
  readonly doneByLabel = new Map<string, number>()
  readonly doneByKey = new Map<string, number>()
  readonly #terms: OracleTerms
  readonly #processes = new Map<string, SimulatedProcess>()
  readonly #budgets = new Map<string, BudgetRule>()
  /** Until when a process may send an operation, by process and key or label. */
  readonly #business = new Map<string, number>()
  readonly #cancelling = new Set<string>()
  readonly #leaseIsLaw: boolean

  constructor(terms: OracleTerms) {
    this.#terms = terms
    const { faults } = terms.plan
    this.#leaseIsLaw = !faults.has('clock-ahead') && !faults.has('clock-back') && !faults.has('cancel')
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
    this.#processes.set(process.name, process)
    const { burst } = this.#terms.plan
    if (burst !== undefined) this.#budgets.set(process.name, new BudgetRule(burst, process.elapsedMs))
  }

  isAlive(process: string): boolean {
    return this.#processes.get(process)?.alive === true
  }

  called(process: SimulatedProcess, plan: CallPlan): CallFact {
    const fact: CallFact = { plan, process, at: this.#terms.now(), accepted: false, told: undefined }
    this.calls.push(fact)
    this.#allow(process, plan.label, plan.deadlineMs)
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
    if (told.is === 'error' && told.error.pending) this.sight('kept for later')
    if (told.is === 'response' && !this.doneByLabel.get(fact.plan.label)) {
      this.breaks(['P3', `${fact.plan.label} was told a success, and was not done`])
    }
  }

  /** Somebody asks this process to cancel an operation, whoever works on it. */
  cancels(process: SimulatedProcess, key: string): void {
    this.#cancelling.add(`${process.name} ${key}`)
  }

  /** Somebody asks this process to go on with an operation. */
  retries(process: SimulatedProcess, key: string, deadlineMs: number): void {
    this.#allow(process, key, deadlineMs)
  }

  /** A handler has done its work. */
  handled(key: string): void {
    const shadow = this.shadows.get(key)
    if (shadow) shadow.taken++
  }

  /** A handler is called. */
  handling(key: string, status: string): void {
    const shadow = this.shadows.get(key)
    if (!shadow) return this.breaks(['P4', 'a settlement was delivered for an operation that is unknown'])
    if (shadow.there && shadow.status !== status) {
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
      this.#follow(process, command, results[index] as JournalResult)
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
      for (const row of results[index] as ClaimedRow[]) this.#allow(process, row.key, this.#terms.runDeadlineMs)
    })
  }

  #follow(process: SimulatedProcess, command: JournalCommand, result: JournalResult): void {
    switch (command.do) {
      case 'append':
        if ((result as { appended: boolean }).appended) this.#append(command.row)
        else this.sight('joined')
        return
      case 'commit':
      case 'remove':
      case 'renew':
        if (result === true) this.#write(command)
        else this.sight('stale write refused')
        return
      case 'claim':
        for (const row of result as ClaimedRow[]) this.#claim(process, command, row)
        return
      case 'claim-one':
        if (result) this.#claim(process, command, result as ClaimedRow)
        return
      case 'prune':
        return this.#prune(command.now)
      default:
    }
  }

  #append(row: JournalRow): void {
    this.shadows.set(row.key, new Shadow(row))
    this.#terms.coverage.saw('transition', 'accept')
    this.#terms.coverage.saw('state', 'pending')
  }

  #write(command: JournalCommand & { do: 'commit' | 'remove' | 'renew' }): void {
    const { coverage } = this.#terms
    const shadow = this.shadows.get(command.key)
    this.breaks(judgeFence(command, shadow))
    if (!shadow) return
    if (command.do === 'renew') shadow.leaseUntil = command.leaseUntil
    else if (command.do === 'remove') {
      shadow.removedBy = command.owner
      coverage.saw('transition', 'let go')
    } else {
      coverage.saw('transition', shadow.commit(command))
      coverage.saw('state', shadow.status)
      const { heldBy } = shadow.head
      if (heldBy) coverage.saw('state', heldBy === 'poison' ? 'parked' : 'held')
    }
  }

  #claim(process: SimulatedProcess, claimant: JournalCommand & { do: 'claim' | 'claim-one' }, row: ClaimedRow): void {
    const shadow = this.shadows.get(row.key)
    const cancels = this.#cancelling.has(`${process.name} ${row.key}`)
    this.breaks(judgeClaim({ claimant, shadow, isAlive: (owner) => this.isAlive(owner), cancels }))
    if (shadow) this.#terms.coverage.saw('transition', shadow.claim(row))
  }

  #prune(now: number): void {
    for (const shadow of this.shadows.values()) {
      if (!shadow.there || shadow.status === 'pending' || shadow.expiresAt === null || shadow.expiresAt > now) continue
      shadow.removedBy = 'housekeeping'
      this.#terms.coverage.saw('transition', 'pruned')
      if (shadow.deliveryDue && shadow.taken === 0)
        this.breaks(['P4', 'a settlement was pruned before a handler took it'])
    }
  }

  // The wire.

  sent(process: SimulatedProcess, sent: Sent): void {
    this.sents.push({ sent, process, at: this.#terms.now(), outcome: undefined })
    this.#budgets.get(process.name)?.left(attemptOf(sent))
    const until = Math.max(this.#until(process, sent.key), this.#until(process, sent.label))
    const allowed = until === 0 ? undefined : until
    const shadow = this.shadows.get(sent.key)
    this.breaks(judgeLeaving({ sent, process, shadow, until: allowed, leaseIsLaw: this.#leaseIsLaw }))
  }

  learned(process: SimulatedProcess, sent: Sent, outcome: TransportOutcome): void {
    const fact = this.sents[sent.number - 1]
    if (fact) fact.outcome = outcome
    this.breaks(this.#budgets.get(process.name)?.learned(attemptOf(sent), outcome, process.elapsedMs))
  }

  done(key: string, label: string): void {
    this.doneByKey.set(key, (this.doneByKey.get(key) ?? 0) + 1)
    this.doneByLabel.set(label, (this.doneByLabel.get(label) ?? 0) + 1)
  }

  #allow(process: SimulatedProcess, what: string, ms: number): void {
    const until = Math.max(this.#until(process, what), process.clock.now() + ms)
    this.#business.set(`${process.name} ${what}`, until)
  }

  #until(process: SimulatedProcess, what: string): number {
    return this.#business.get(`${process.name} ${what}`) ?? 0
  }
}

export function labelOf({ body }: Shadow): string {
  return body ? (String.fromCharCode(...body).split('"')[3] ?? '') : ''
}

function attemptOf(sent: Sent): number {
  return Number(headerValue(sent.headers, 'holdfast-attempt') ?? 1)
}

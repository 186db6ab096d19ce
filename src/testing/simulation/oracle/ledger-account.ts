import { headerValue } from '../../../protocol/headers.ts'
import type { Entry, RecordedAnswer } from '../../../server/entry/entry.ts'
import type { IdempotencyContext } from '../../../server/guard/context.ts'
import type { Claim } from '../../../server/ledger/port.ts'
import { SECRET } from '../model-server.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent, WireAnswer } from '../wire.ts'
import { HandlerAccount, type HandlerRun } from './handler-account.ts'
import type { Oracle } from './oracle.ts'

/** A handler that knows what it did, and has said so to its ledger. */
interface KnownAnswer {
  readonly run: HandlerRun
  readonly token: string
}

type BegunContext = Pick<IdempotencyContext, 'signal' | 'attempt'>

export interface LedgerAccountOptions {
  /** Does the server remember keys for as long as the client assumes? */
  readonly honest: boolean
  /** Milliseconds from the history's beginning. */
  readonly now: () => number
}

/** The oracle's account of the server's claims: it sees what passes between the ledger, its store and its handlers. */
export class LedgerAccount {
  readonly #oracle: Oracle
  /** Does the server remember keys for as long as the client assumes? */
  readonly #honest: boolean
  readonly #holders = new Map<string, SimulatedProcess>()
  /** Tokens, by process, key and attempt: one process may have two claims on a key, the older one lost. */
  readonly #claims = new Map<string, string>()
  readonly #open = new Set<string>()
  readonly #failed = new Set<string>()
  readonly #known = new Map<string, KnownAnswer>()
  readonly #firstAnswers = new Map<string, string>()
  readonly #served = new Set<string>()
  readonly #handlers: HandlerAccount
  /** Requests whose handler has refused them for good. */
  readonly #refused = new Map<string, number>()
  readonly #done = new Set<string>()
  /** Keys whose work has ended its transaction itself. */
  readonly #endedByWork = new Set<string>()

  constructor(oracle: Oracle, { honest, now }: LedgerAccountOptions) {
    this.#oracle = oracle
    this.#honest = honest
    this.#handlers = new HandlerAccount(now)
  }

  claimed(process: SimulatedProcess, { key, token, attempt }: Claim): void {
    this.#holders.set(token, process)
    this.#claims.set(`${process.name} ${key} ${attempt}`, token)
  }

  /** P8: a claim is taken only from the dead, the late, the finished and oneself. */
  tookOver(process: SimulatedProcess, claim: Claim, from: Entry): void {
    const holder = this.#holders.get(from.token)
    this.claimed(process, claim)
    if (from.state !== 'running' || holder === process) return
    if (from.leaseUntil <= process.clock.now() && !this.#open.has(from.token)) return
    const ms = from.leaseUntil - process.clock.now()
    this.#oracle.breaks(['P8', `${process.name} took over a claim of ${holder?.name}, which has it for ${ms} ms`])
  }

  /** The claim's transaction is open: the store itself shows that its process lives. */
  entered({ token }: Claim): void {
    this.#open.add(token)
  }

  left({ token }: Claim): void {
    this.#open.delete(token)
  }

  /** A handler begins to work on a request. */
  began(process: SimulatedProcess, sent: Sent, { signal, attempt }: BegunContext): HandlerRun {
    this.#served.add(requestOf(sent))
    const { key, label } = sent
    const token = this.#claims.get(`${process.name} ${key} ${attempt}`)
    const [run, violation] = this.#handlers.began({ process, key, label, token, signal })
    this.#oracle.breaks(violation)
    return run
  }

  /** The transaction of a claim has ended it. */
  settled({ token }: Claim): void {
    this.#handlers.settled(token)
  }

  acts(run: HandlerRun): void {
    this.#oracle.breaks(this.#handlers.acts(run))
  }

  /** Whether its request has been answered before, or is answered now. */
  ended(run: HandlerRun): void {
    run.isOver = true
  }

  endedByWork({ key }: Claim): void {
    this.#endedByWork.add(key)
  }

  /** A handler gives its lasting answer to the ledger of its process, which records it after the fact. */
  knows(run: HandlerRun): void {
    if (run.token !== undefined) this.#known.set(run.key, { run, token: run.token })
  }

  /** P3: what was refused for good is not done later. */
  done({ key, label, number }: Sent): void {
    this.#done.add(`${key} ${label}`)
    const refused = this.#refused.get(`${key} ${label}`)
    if (refused === undefined || !this.#honest) return
    this.#oracle.breaks(['P3', `request ${number} did ${label}, which had been refused with ${refused}`])
  }

  failedToRecord({ token }: Claim): void {
    this.#failed.add(token)
  }

  /** P9: no credential is ever written down. */
  recorded({ token }: Claim, answer: RecordedAnswer): void {
    if (this.#failed.has(token)) this.#oracle.observed('answer recorded late')
    if (JSON.stringify(answer.headers).includes(SECRET)) {
      this.#oracle.breaks(['P9', 'a credential is in an answer that the ledger keeps'])
    }
  }

  /** P3: what was the final word once stays so. */
  answered(sent: Sent, answer: WireAnswer): void {
    if (!isLasting(answer)) return
    const { key, label, number } = sent
    if (!this.#served.has(requestOf(sent))) {
      this.#oracle.breaks(['P3', `request ${number} (${label}) got the answer of another request under its key`])
    }
    if (!this.#honest) return
    if (answer.status >= 400) this.#refused.set(`${key} ${label}`, answer.status)
    const isRight = answer.status < 400 === this.#done.has(`${key} ${label}`)
    if (!isRight) this.#oracle.breaks(['P3', `${label} was answered with ${answer.status}, which is not what was done`])
    const said = `${answer.status} ${answer.body}`
    const first = this.#firstAnswers.get(`${key} ${label}`)
    if (first === undefined) this.#firstAnswers.set(`${key} ${label}`, said)
    else if (first !== said) this.#oracle.breaks(['P3', `${label} was first answered "${first}", and then "${said}"`])
  }

  /** `now`: by the clock of the server. */
  judgeEnd(entries: readonly Entry[], now: number): void {
    for (const entry of entries) {
      this.#judgeHeld(entry, now)
      if (this.#honest) this.#judgeKnown(entry)
    }
  }

  /** P4: every entry ends done, unknown, or free for the next request; nothing is held for ever. */
  #judgeHeld({ key, token, state, external, leaseUntil }: Entry, now: number): void {
    const holder = this.#holders.get(token)
    if (state === 'running' && (leaseUntil > now || this.#open.has(token))) {
      this.#oracle.breaks(['P4', `${holder?.name} holds the key ${key}, and no handler works under it any more`])
    }
    if (state === 'unknown' && !external && !this.#endedByWork.has(key)) {
      this.#oracle.breaks(['P4', `the outcome of ${key} is unknown, and all of it was rolled back`])
    }
  }

  /** P4: an answer that a living process knows is not lost, as long as it has its lease. Past its retention it need not be kept. */
  #judgeKnown({ key, token, state }: Entry): void {
    const known = this.#known.get(key)
    if (state === 'done' || known?.token !== token) return
    const { process, label, signal } = known.run
    if (!process.alive || signal.aborted) return
    this.#oracle.breaks(['P4', `${process.name} knows the answer of ${label}, and its entry is ${state}`])
  }
}

/** Everything that makes a request the same one. */
function requestOf({ key, method, url, label }: Sent): string {
  return `${key} ${method} ${url} ${label}`
}

/** Said of this moment, or of the caller. */
const FOR_NOW = [401, 407, 408, 425, 429]

/** A final answer of a handler or its framework, first or replayed. What a ledger refuses with is a problem. */
export function isLasting({ status, headers }: WireAnswer): boolean {
  const isProblem = headerValue(headers, 'content-type') === 'application/problem+json'
  return !isProblem && status < 500 && !FOR_NOW.includes(status)
}

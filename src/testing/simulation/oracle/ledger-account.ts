import { HEADER } from '../../../protocol/header-names.ts'
import { headerValue } from '../../../protocol/headers.ts'
import type { Entry, RecordedAnswer } from '../../../server/entry/entry.ts'
import type { Claim } from '../../../server/ledger/port.ts'
import { SECRET } from '../model-server.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Sent, WireAnswer } from '../wire.ts'
import type { Oracle } from './oracle.ts'

/** A handler that knows what it did, and has said so to its ledger. */
interface KnownAnswer {
  readonly process: SimulatedProcess
  readonly token: string
  readonly label: string
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

  constructor(oracle: Oracle, { honest }: { readonly honest: boolean }) {
    this.#oracle = oracle
    this.#honest = honest
  }

  claimed(process: SimulatedProcess, { key, token, attempt }: Claim): void {
    this.#holders.set(token, process)
    this.#claims.set(`${process.name} ${key} ${attempt}`, token)
  }

  /** P8: a claim is taken only from the dead, the late, the finished and oneself. */
  tookOver(process: SimulatedProcess, claim: Claim, from: Entry): void {
    const holder = this.#holders.get(from.token)
    this.claimed(process, claim)
    if (from.state !== 'running' || from.leaseUntil <= process.clock.now()) return
    if (holder === process || (from.inEffect && !this.#open.has(from.token))) return
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
  served(sent: Sent): void {
    this.#served.add(requestOf(sent))
  }

  /** A handler gives its lasting answer to the ledger of its process, which records it after the fact. */
  knows(process: SimulatedProcess, { key, label }: Sent, attempt: number): void {
    const token = this.#claims.get(`${process.name} ${key} ${attempt}`)
    if (token !== undefined) this.#known.set(key, { process, token, label })
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
    const said = `${answer.status} ${answer.body}`
    const first = this.#firstAnswers.get(`${key} ${label}`)
    if (first === undefined) this.#firstAnswers.set(`${key} ${label}`, said)
    else if (first !== said) this.#oracle.breaks(['P3', `${label} was first answered "${first}", and then "${said}"`])
  }

  /** P4: an answer that a living process knows is not lost, as long as its claim is its own. */
  judgeEnd(entries: readonly Entry[]): void {
    // Past its retention an answer need not be kept.
    if (!this.#honest) return
    if (!this.#honest) return
    for (const { key, token, state } of entries) {
      const known = this.#known.get(key)
      if (state === 'done' || known?.token !== token || !known.process.alive) continue
      this.#oracle.breaks(['P4', `${known.process.name} knows the answer of ${known.label}, and its entry is ${state}`])
    }
  }
}

/** Everything that makes a request the same one. */
function requestOf({ key, method, url, label }: Sent): string {
  return `${key} ${method} ${url} ${label}`
}

/** Said of this moment, or of the caller. */
const FOR_NOW = [401, 407, 408, 425, 429]

/** A handler's final answer, first or replayed. What a ledger refuses with is a problem. */
function isLasting({ status, headers }: WireAnswer): boolean {
  const isProblem = headerValue(headers, 'content-type') === 'application/problem+json'
  return (
    headerValue(headers, HEADER.idempotencyRetention) !== undefined &&
    !isProblem &&
    status < 500 &&
    !FOR_NOW.includes(status)
  )
}

import type { Entry } from '../../src/server/index.ts'
import type { Claim } from '../support/claim.ts'
import { ClaimBook, type ServerFacts } from '../support/claim-book.ts'
import { answerDigest } from './answer-digest.ts'
import type { Backstage, OrderRow } from './backstage.ts'
import { hasId, kindOf } from './operation-kinds.ts'
import type { Charge } from './pretend-provider.ts'

export interface HuntVerdict {
  readonly posted: number
  readonly accepted: number
  /** Rows of the shop and charges of the provider. */
  readonly effects: number
  /** Accepted, and not done though it had to be. */
  readonly lost: number
  /** Done more than once, or done though it was refused. */
  readonly doubled: number
  /** Accepted, and nobody was told how it ended, or that it ended otherwise than it had to. */
  readonly untold: number
  /** Answers that the client got and that are not the recorded one, or belong to another execution. */
  readonly wrongAnswers: number
  /** Refusals whose body was lost on the way: such a one speaks by its head alone. */
  readonly headsOnly: number
  /** Entries of the ledger that are not done though their operation is. */
  readonly unfinished: number
  /** How often callers and handlers were told what, and how often that was not true. */
  readonly claims: Readonly<Record<string, number>>
  readonly falseClaims: number
  /** What is wrong, in words, and with which operation. */
  readonly complaints: readonly string[]
}

interface Operation {
  readonly keys: Set<string>
  readonly statuses: Set<string>
  readonly answers: Set<string>
  calledAt: number
  accepted: boolean
}

export interface Heard extends Claim {
  readonly is: string
  readonly number?: number
  readonly key?: string
  readonly at?: number
  readonly status?: string
  readonly answer?: string
  readonly replayed?: boolean
  readonly mayHaveRepeated?: boolean
  readonly message?: string
}

interface Answers {
  readonly fresh: number
  readonly replayed: number
}

/** What only the servers know. */
export interface Evidence {
  readonly backstage: Backstage
  readonly charges: ReadonlyMap<string, readonly Charge[]>
  /** Successes that left the servers, by key. */
  readonly answers: ReadonlyMap<string, Answers>
}

/** What is known from the outside: what was posted, accepted, answered and told. */
export class HuntJudge {
  readonly #operations = new Map<number, Operation>()
  readonly #claims = new ClaimBook()
  readonly #complaints: string[] = []
  readonly #again: number[] = []
  #posted = 0
  #told = 0
  accepted = 0

  /** How many were accepted and have not been told. */
  get open(): number {
    return this.accepted - this.#told
  }

  /** The next operation to post: one that is to be posted again, or a new one. */
  next(): number {
    const number = this.#again.shift() ?? ++this.#posted
    const calledAt = Date.now()
    const known = this.#operations.get(number)
    if (known) known.calledAt = calledAt
    else {
      const nothing = { keys: new Set<string>(), statuses: new Set<string>(), answers: new Set<string>() }
      this.#operations.set(number, { ...nothing, calledAt, accepted: false })
    }
    return number
  }

  /** Their process was killed. Only an id makes it safe to post one again. */
  giveBack(numbers: Iterable<number>): void {
    for (const number of numbers) if (hasId(number)) this.#again.push(number)
  }

  hear(said: Heard): void {
    const { is, number, key, status, answer } = said
    const operation = number === undefined ? undefined : this.#operations.get(number)
    if (!operation || number === undefined) return
    // A call that was never accepted may show a key that no operation has.
    if (key !== undefined && is !== 'gave up') operation.keys.add(key)
    if (answer !== undefined) operation.answers.add(answer)
    this.#note(said, number)
    if (is === 'told' && status !== undefined) {
      if (operation.statuses.size === 0) this.#told++
      operation.statuses.add(status)
    }
    if (is !== 'accepted' || operation.accepted) return
    operation.accepted = true
    this.accepted++
  }

  #note({ is, key, at, effect, pending, status, replayed, mayHaveRepeated }: Heard, number: number): void {
    if (key === undefined || at === undefined || effect === undefined) return
    const by = is === 'told' ? 'handler' : 'caller'
    this.#claims.tell({ number, key, at, by, effect, pending, status, replayed, mayHaveRepeated })
  }

  async judge(evidence: Evidence): Promise<HuntVerdict> {
    const { backstage, charges } = evidence
    const rows = groupRows(await backstage.rows())
    const count = { effects: 0, lost: 0, doubled: 0, untold: 0, wrongAnswers: 0, headsOnly: 0 }
    for (const [number, operation] of this.#operations) {
      const [key = ''] = operation.keys
      const done = kindOf(number) === 'payment' ? (charges.get(key) ?? []) : (rows.get(number) ?? [])
      const expected = kindOf(number) === 'refused' ? 0 : 1
      count.effects += done.length
      if (done.length > expected) count.doubled += this.#complain(number, `${done.length} effects`)
      if (!operation.accepted) continue
      if (done.length < expected) count.lost += this.#complain(number, `${done.length} effects`)
      const booked = rows.get(number)?.length ?? 0
      if (done.length !== booked) count.lost += this.#complain(number, `${done.length} effects, ${booked} rows`)
      const status = expected ? 'succeeded' : 'rejected'
      if ([...operation.statuses].join() !== status) {
        count.untold += this.#complain(number, `told: ${[...operation.statuses].join() || 'nothing'}`)
      }
      const entry = await backstage.find(key)
      const answered = compared(entry, operation)
      const wrong = answered.wrong ?? notOf(entry, rows.get(number) ?? [])
      count.headsOnly += answered.headsOnly
      if (wrong !== undefined) count.wrongAnswers += this.#complain(number, wrong)
    }
    const falseClaims = this.#falseClaims(evidence, rows)
    const { accepted } = this
    const unfinished = await backstage.unfinished()
    const claims = { claims: this.#claims.counts, falseClaims: falseClaims.length }
    const complaints = [...this.#complaints, ...falseClaims]
    return { posted: this.#posted, accepted, ...count, ...claims, unfinished, complaints }
  }

  #falseClaims({ charges, answers }: Evidence, rows: ReadonlyMap<number, readonly OrderRow[]>): string[] {
    const factsOf = (number: number): ServerFacts => {
      const keys = [...(this.#operations.get(number)?.keys ?? [])]
      // A charge has a row of the shop's own beside it.
      const isPaid = kindOf(number) === 'payment'
      const effects = isPaid ? keys.flatMap((key) => charges.get(key) ?? []) : (rows.get(number) ?? [])
      const answered = keys.flatMap((key) => answers.get(key) ?? [])
      return {
        effectsAt: effects.map(({ at }) => at),
        fresh: answered.reduce((sum, { fresh }) => sum + fresh, 0),
        replayed: answered.reduce((sum, { replayed }) => sum + replayed, 0),
      }
    }
    const calledAt = (number: number): number => this.#operations.get(number)?.calledAt ?? 0
    return this.#claims.falseClaims({ factsOf, calledAt, showsKeys: true })
  }

  #complain(number: number, sentence: string): number {
    this.#complaints.push(`operation ${number} (${kindOf(number)}): ${sentence}`)
    return 1
  }
}

const EMPTY = new Uint8Array()

/** What is wrong with the answers, if anything; how many were without their body. */
function compared(entry: Entry | undefined, { keys, answers }: Operation): { wrong?: string; headsOnly: number } {
  if (keys.size > 1) return { wrong: `${keys.size} keys`, headsOnly: 0 }
  if (!entry?.answer) return { wrong: `its entry is ${entry?.state ?? 'absent'}`, headsOnly: 0 }
  const { status, headers, body } = entry.answer
  const of = new Map(headers)
  const head = { status, contentType: of.get('content-type') ?? null, location: of.get('location') ?? null }
  const recorded = answerDigest({ ...head, body: body ?? EMPTY })
  const headOnly = answerDigest({ ...head, body: EMPTY })
  const others = [...answers].filter((answer) => answer !== recorded)
  const other = others.find((answer) => status < 400 || answer !== headOnly)
  if (other !== undefined) return { wrong: `answered ${other}, recorded ${recorded}`, headsOnly: 0 }
  return { headsOnly: others.length }
}

/** The row that is there and the answer that is recorded come from the same execution. */
function notOf(entry: Entry | undefined, rows: readonly OrderRow[]): string | undefined {
  const [row] = rows
  if (!row || !entry?.answer) return undefined
  const text = new TextDecoder().decode(entry.answer.body ?? EMPTY)
  return text.includes(row.nonce) ? undefined : 'its row is of another execution than its answer'
}

function groupRows(rows: readonly OrderRow[]): Map<number, OrderRow[]> {
  const groups = new Map<number, OrderRow[]>()
  for (const row of rows) groups.set(row.number, [...(groups.get(row.number) ?? []), row])
  return groups
}

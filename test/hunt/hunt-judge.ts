import type { Entry } from '../../src/server/index.ts'
import { type Claim, isFalse } from '../support/claim.ts'
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
  /** How often callers and handlers were told of an effect, and how often that was not true. */
  readonly claims: number
  readonly falseClaims: number
  /** What is wrong, in words, and with which operation. */
  readonly complaints: readonly string[]
}

interface Operation {
  readonly keys: Set<string>
  readonly statuses: Set<string>
  readonly answers: Set<string>
  readonly claims: Claim[]
  accepted: boolean
}

export interface Heard extends Claim {
  readonly is: string
  readonly number?: number
  readonly key?: string
  readonly status?: string
  readonly answer?: string
}

/** What is known from the outside: what was posted, accepted, answered and told. */
export class HuntJudge {
  readonly #operations = new Map<number, Operation>()
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
    if (!this.#operations.has(number)) {
      const nothing = { keys: new Set<string>(), statuses: new Set<string>(), answers: new Set<string>() }
      this.#operations.set(number, { ...nothing, claims: [], accepted: false })
    }
    return number
  }

  /** Their process was killed. Only an id makes it safe to post one again. */
  giveBack(numbers: Iterable<number>): void {
    for (const number of numbers) if (hasId(number)) this.#again.push(number)
  }

  hear({ is, number, key, status, answer, effect, pending }: Heard): void {
    const operation = number === undefined ? undefined : this.#operations.get(number)
    if (!operation) return
    if (key !== undefined) operation.keys.add(key)
    if (answer !== undefined) operation.answers.add(answer)
    if (effect !== undefined) operation.claims.push({ effect, pending })
    if (is === 'told' && status !== undefined) {
      if (operation.statuses.size === 0) this.#told++
      operation.statuses.add(status)
    }
    if (is !== 'accepted' || operation.accepted) return
    operation.accepted = true
    this.accepted++
  }

  async judge(backstage: Backstage, charges: ReadonlyMap<string, readonly Charge[]>): Promise<HuntVerdict> {
    const rows = groupRows(await backstage.rows())
    const count = {
      effects: 0,
      lost: 0,
      doubled: 0,
      untold: 0,
      wrongAnswers: 0,
      headsOnly: 0,
      claims: 0,
      falseClaims: 0,
    }
    for (const [number, operation] of this.#operations) {
      const [key = ''] = operation.keys
      const done = kindOf(number) === 'payment' ? (charges.get(key) ?? []) : (rows.get(number) ?? [])
      const expected = kindOf(number) === 'refused' ? 0 : 1
      count.effects += done.length
      count.claims += operation.claims.length
      for (const claim of operation.claims) {
        // What has an id may be called again after it was given up.
        if (hasId(number) && claim.effect === 'none') continue
        if (isFalse(claim, done.length)) count.falseClaims += this.#complain(number, `claimed ${claim.effect}`)
      }
      if (done.length > expected) count.doubled += this.#complain(number, `${done.length} effects`)
      if (!operation.accepted) continue
      if (done.length < expected) count.lost += this.#complain(number, `${done.length} effects`)
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
    const { accepted } = this
    const unfinished = await backstage.unfinished()
    return { posted: this.#posted, accepted, ...count, unfinished, complaints: this.#complaints }
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

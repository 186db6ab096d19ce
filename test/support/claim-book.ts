import type { Claim } from './claim.ts'

/** One thing that a caller or a settlement handler was told of an operation. */
export interface Told extends Claim {
  /** The operation's number in the hunt. */
  readonly number: number
  readonly key: string
  readonly by: 'caller' | 'handler'
  /** Epoch milliseconds, on the clock of the machine that effects are timed by too. */
  readonly at: number
  /** `answered` for a caller with a success; the settlement's status for a handler. */
  readonly status?: string | undefined
  readonly replayed?: boolean | undefined
  readonly mayHaveRepeated?: boolean | undefined
}

/** What the server knows of one operation, under whichever keys it came. */
export interface ServerFacts {
  /** When each effect happened, epoch milliseconds. */
  readonly effectsAt: readonly number[]
  /** Final answers that left the server: given by the work itself, and given from its record. */
  readonly fresh: number
  readonly replayed: number
}

export interface ClaimRules {
  readonly factsOf: (number: number) => ServerFacts
  /** When the operation was last called, epoch milliseconds: a claim that nothing will happen ends there. */
  readonly calledAt: (number: number) => number
  /** Does every answer of the server show that it honours keys? Then no handler may be told of a repetition. */
  readonly showsKeys: boolean
}

/** How an operation ends with an answer. */
const ANSWERED: ReadonlySet<string | undefined> = new Set(['answered', 'succeeded', 'rejected'])

/** An error is made a moment before it is told, and a resume may begin in between. */
const GRACE_MS = 250

/** Keeps what callers and handlers were told, and holds it against the server's table of effects. */
export class ClaimBook {
  readonly #told: Told[] = []

  tell(told: Told): void {
    this.#told.push(told)
  }

  /** How often each claim was made, in words. */
  get counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    const add = (name: string): void => {
      counts[name] = (counts[name] ?? 0) + 1
    }
    for (const told of this.#told) {
      add(claimText(told))
      if (told.replayed) add(`${told.by}: replayed`)
      if (told.mayHaveRepeated) add(`${told.by}: may have repeated`)
    }
    return Object.fromEntries(Object.entries(counts).sort(([one], [other]) => one.localeCompare(other)))
  }

  /** What was told and is not true: a sentence each, with the operation's key, what was told, and when. */
  falseClaims(rules: ClaimRules): string[] {
    const operations = new Map<number, Told[]>()
    for (const told of this.#told) operations.set(told.number, [...(operations.get(told.number) ?? []), told])
    return [...operations].flatMap(([number, all]) => {
      const facts = rules.factsOf(number)
      const lies = all.flatMap((told) => {
        const wrong = effectLie(told, facts, rules) ?? markerLie(told, facts, rules)
        return wrong === undefined ? [] : [`${toldText(told)}; ${wrong}`]
      })
      return [...lies, ...contradictions(all, rules), ...answeredTwice(number, facts)]
    })
  }
}

/** Two claims of which only one can be true. */
function contradictions(all: readonly Told[], rules: ClaimRules): string[] {
  const settlement = all.find(({ by }) => by === 'handler')
  if (!settlement) return []
  return all
    .filter((other) => contradicts(settlement, other, rules))
    .map((other) => `${toldText(settlement)}; ${toldText(other)}`)
}

function contradicts(settlement: Told, other: Told, { calledAt }: ClaimRules): boolean {
  if (other.by === 'handler') return other.status !== settlement.status
  if (other.status === 'answered') return settlement.status !== 'succeeded'
  const ended = other.pending === false && other.effect !== 'applied' && calledAt(other.number) <= other.at
  return ended && settlement.status === 'succeeded'
}

function effectLie({ effect, pending, number, at }: Told, { effectsAt }: ServerFacts, rules: ClaimRules) {
  const [first] = [...effectsAt].sort((one, other) => one - other)
  if (effect === 'applied' && first === undefined) return 'it never took effect'
  if (effect === 'applied' && first !== undefined && first > at) return `its effect came ${first - at} ms later`
  if (effect !== 'none' || first === undefined) return undefined
  if (first < at - GRACE_MS) return `it had taken effect ${at - first} ms before`
  const isFinal = pending === false && rules.calledAt(number) <= at
  return isFinal ? `it took effect, ${first - at} ms after` : undefined
}

function markerLie(told: Told, { effectsAt, fresh, replayed }: ServerFacts, { showsKeys }: ClaimRules) {
  if (told.replayed && replayed === 0) return 'the server never answered it from its record'
  const isFresh = told.replayed === false && ANSWERED.has(told.status)
  if (isFresh && fresh === 0) return 'the server answered it from its record only'
  if (told.mayHaveRepeated && told.status !== 'succeeded') return 'only what succeeded may have been repeated'
  if (told.mayHaveRepeated && showsKeys) return 'every answer of the server shows that it honours keys'
  if (told.mayHaveRepeated === false && effectsAt.length > 1) return `it took effect ${effectsAt.length} times`
  return undefined
}

/** The work of a key ends once; every other answer is from the record, and says so. */
function answeredTwice(number: number, { fresh }: ServerFacts): string[] {
  return fresh > 1 ? [`operation ${number}: ${fresh} answers that are not marked as replayed`] : []
}

function claimText({ by, status, effect, pending }: Told): string {
  const words = [status, effect, pending ? 'pending' : undefined].filter((word) => word !== undefined)
  return `${by}: ${words.join(', ') || 'nothing'}`
}

function toldText(told: Told): string {
  const markers = [told.replayed ? 'replayed' : '', told.mayHaveRepeated ? 'may have repeated' : ''].filter(Boolean)
  const claim = [claimText(told).replace(': ', ' was told "'), ...markers].join(', ')
  return `operation ${told.number}, key ${told.key}: ${claim}" at ${new Date(told.at).toISOString().slice(11, 23)}`
}

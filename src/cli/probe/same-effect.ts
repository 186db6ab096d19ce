import { isReplayed } from '../../protocol/header-names.ts'
import { headerValue } from '../../protocol/headers.ts'
import type { Answer } from './exchange.ts'

/*
 * Did two answers come from one effect, or from two? A probe sees answers only. Two operations under different keys show
 * what differs from one effect to the next, an id as a rule; a repeat that has the same id is the same effect.
 */

/** `refused`: the answer is no success, so that there was no second effect. */
export type Comparison = 'same' | 'different' | 'refused' | 'unclear'

/** What tells one effect from another in the answers of this server. */
export interface Evidence {
  /** Where it stands: paths into the JSON of the body, `@body` for a body that is no JSON, `@location`. */
  readonly places: readonly string[]
  /** Ids prove both: same and different. What changes with each answer, such as a time, proves only that it is the same. */
  readonly provesDifference: boolean
  /** Another key with the same body was refused: a second run would have been, too. */
  readonly refusesRepeats: boolean
}

const ID = /(^|[._-])(id|uuid|guid|number|no|reference|ref|sequence|seq|location)$|(Id|ID|Number|Ref|Uuid)$/
const VOLATILE = /request|trace|span|correlation|time|date|(^|[._-])(at|ts|now|age|elapsed|duration)$|(At|Ms)$/

/** From the answers to the same request under two keys. */
export function evidenceOf(first: Answer, control: Answer): Evidence {
  if (!isSuccess(control)) return { places: [], provesDifference: false, refusesRepeats: control.status < 500 }
  const [one, other] = [leavesOf(first), leavesOf(control)]
  const differing = [...one.keys()].filter((place) => {
    const [value = '', counterpart = ''] = [one.get(place), other.get(place)]
    // A server that echoes the key proves nothing by it.
    return value !== counterpart && !value.includes(first.key) && !counterpart.includes(control.key)
  })
  const ids = differing.filter((place) => ID.test(place) && !VOLATILE.test(place))
  const steady = differing.filter((place) => !VOLATILE.test(place))
  const places = [ids, steady, differing].find((some) => some.length > 0) ?? []
  return { places, provesDifference: steady.length > 0, refusesRepeats: false }
}

/** Is `answer` that of the effect which `original` told of? */
export function compareEffects(evidence: Evidence, original: Answer, answer: Answer): Comparison {
  if (isReplayed(answer.headers)) return 'same'
  if (!isSuccess(answer)) return 'refused'
  if (evidence.refusesRepeats) return 'same'
  const [one, other] = [leavesOf(original), leavesOf(answer)]
  const equal = evidence.places.filter((place) => one.get(place) === other.get(place)).length
  if (evidence.places.length === 0) return 'unclear'
  if (equal === evidence.places.length) return 'same'
  return equal === 0 && evidence.provesDifference ? 'different' : 'unclear'
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status <= 299
}

/** Every value of an answer by its place. */
function leavesOf({ headers, body }: Answer): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>()
  const location = headerValue(headers, 'location')
  if (location !== undefined) leaves.set('@location', location)
  const text = new TextDecoder().decode(body)
  try {
    collectLeaves(leaves, '', JSON.parse(text))
  } catch {
    if (text !== '') leaves.set('@body', text)
  }
  return leaves
}

function collectLeaves(leaves: Map<string, string>, place: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    leaves.set(place, JSON.stringify(value))
    return
  }
  for (const [name, inner] of Object.entries(value)) collectLeaves(leaves, place ? `${place}.${name}` : name, inner)
}

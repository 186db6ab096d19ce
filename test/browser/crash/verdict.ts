import { type Claim, isFalse } from '../../support/claim.ts'
import type { CountedKey, CountingApi } from '../support/counting-api.ts'
import type { Gate } from './gate.ts'
import type { Order } from './orders.ts'

/** What is wrong, in words; empty is what everybody wants. */
export interface Verdict {
  readonly operations: number
  readonly accepted: number
  /** Accepted, and not done. */
  readonly lost: readonly string[]
  /** Done more than once, under whatever key. */
  readonly doubled: readonly string[]
  /** Sent under another key, or with other bytes. */
  readonly changed: readonly string[]
  /** Accepted, done, and no handler was told. */
  readonly untold: readonly string[]
  /** How often pages were told what of the effect; what they were told where that is not true. */
  readonly claims: Readonly<Record<string, number>>
  readonly misled: readonly string[]
  /** Sent more often, or less often, than where it died calls for. */
  readonly miscounted: readonly string[]
}

type Counted = CountedKey & { readonly key: string }

/** Holds what the pages said against what the judge counted. */
export function judge(orders: readonly Order[], api: CountingApi, gate: Gate): Verdict {
  const accepted = acceptedKeys(gate)
  const told = new Set(gate.heard('told'))
  const counted = byPath(api)
  const at = (order: Order): readonly Counted[] => counted.get(order.path) ?? []
  const isAccepted = ({ path }: Order): boolean => accepted.has(path)
  const effects = (order: Order): number => at(order).reduce((sum, one) => sum + one.effects, 0)
  const isChanged = (order: Order): boolean => {
    const key = accepted.get(order.path)
    return at(order).length > 1 || at(order).some((one) => one.hashes.size > 1 || (key && one.key !== key))
  }
  const isUntold = (order: Order): boolean =>
    order.name !== undefined && isAccepted(order) && !told.has(accepted.get(order.path) ?? '')
  const those = (is: (order: Order) => boolean): string[] =>
    orders.filter(is).map((order) => `${order.crash.title}: ${order.path}, ${at(order)[0]?.requests ?? 0} requests`)
  return {
    operations: orders.length,
    accepted: orders.filter(isAccepted).length,
    lost: those((order) => isAccepted(order) && effects(order) === 0),
    doubled: those((order) => effects(order) > 1),
    changed: those(isChanged),
    untold: those(isUntold),
    claims: claimCounts(gate),
    misled: orders.flatMap((order) => {
      const lies = claimsOf(gate, order.path).filter((claim) => isFalse(claim, effects(order)))
      const key = at(order)[0]?.key ?? accepted.get(order.path) ?? 'unknown'
      return lies.map((lie) => `${order.path}, key ${key}: told "${claimText(lie)}", ${effects(order)} effects`)
    }),
    miscounted: those((order) => isMiscounted(orders, order, at(order)[0]?.requests ?? 0)),
  }
}

function byPath(api: CountingApi): Map<string, Counted[]> {
  const paths = new Map<string, Counted[]>()
  for (const [key, one] of api.keys) paths.set(one.path, [...(paths.get(one.path) ?? []), { ...one, key }])
  return paths
}

/** Known only where it was alone at the point: others may have come near it. */
function isMiscounted(orders: readonly Order[], { crash, isTarget, path }: Order, requests: number): boolean {
  if (!isTarget || crash.requests === undefined || requests === crash.requests) return false
  // Who resumes may stop there with another one of those that were left, before this one had its turn.
  if (crash.resumerPoint && requests === crash.requests - 1) return false
  const page = path.split('/')[1]
  return orders.filter((order) => order.isTarget && order.path.split('/')[1] === page).length === 1
}

function claimsOf(gate: Gate, path: string): Claim[] {
  return gate.heard('claimed').flatMap((line) => {
    const [of, effect, pending] = line.split(' ')
    return of === path ? [{ effect, pending: pending === 'true' }] : []
  })
}

function claimText({ effect, pending }: Claim): string {
  return `caller: ${effect}${pending ? ', pending' : ''}`
}

function claimCounts(gate: Gate): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const line of gate.heard('claimed')) {
    const [, effect, pending] = line.split(' ')
    const text = claimText({ effect, pending: pending === 'true' })
    counts[text] = (counts[text] ?? 0) + 1
  }
  return counts
}

/** Path -> key of what was accepted before its page died. */
export function acceptedKeys(gate: Gate): Map<string, string> {
  return new Map(gate.heard('accepted').map((line) => line.split(' ') as [string, string]))
}

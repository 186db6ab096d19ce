import { beats, frontOf } from './front.ts'
import type { Contender, GroupName, Role, SituationGroup } from './situation-groups.ts'
import type { Outcome, Situation } from './situations.ts'

/** One client in one situation. */
export interface SituationRow extends Outcome {
  readonly group: GroupName
  readonly title: string
  readonly situation: string
  readonly policy: string
  readonly role: Role
  /** More success and fewer requests than Holdfast as it comes. */
  readonly isBetter: boolean
  /** No other client that exists is better. */
  readonly isOnFront: boolean
}

type Found = Outcome & Contender

export function situationRows(
  group: SituationGroup,
  situation: Situation,
  { seed, tell }: { readonly seed: number; readonly tell: (policy: string) => void },
): SituationRow[] {
  const seeds = Array.from({ length: group.runs }, (_, run) => seed + run)
  const found = group.contenders.map((contender): Found => {
    tell(contender.policy.name)
    return { ...contender, ...meanOf(seeds.map((one) => situation.run(contender.policy, one))) }
  })
  const ours = found.find(({ role }) => role === 'default')
  const front = new Set(frontOf(found.filter(({ role }) => role !== 'candidate')))
  return found.map((one) => {
    const { policy, ...rest } = one
    const isBetter = ours !== undefined && beats(one, ours)
    const named = { group: group.name, title: group.title, situation: situation.name, policy: policy.name }
    return { ...named, ...rest, isBetter, isOnFront: front.has(one) }
  })
}

function meanOf(outcomes: readonly Outcome[]): Outcome {
  const mean = (of: 'requests' | 'success'): number => outcomes.reduce((sum, one) => sum + one[of], 0) / outcomes.length
  return { ...outcomes[0], requests: mean('requests'), success: mean('success') }
}

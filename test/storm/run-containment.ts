/**
 * What the defaults get done and what that costs, beside all peers and all candidates that lost:
 * `npx tsx test/storm/run-containment.ts shares|quiet|half|outage|keep|restarts|tabs|retry-after|backlog [clients]`.
 * A mark stands before each client that gets more done with fewer requests than the first one.
 */
import { backlogRow } from './experiments/backlog.ts'
import {
  crashLoop,
  halfCapacitySituations,
  outageSituation,
  quietSituations,
  reloadedPage,
  saysRetryAfter,
  shareSituations,
  twoTabs,
} from './experiments/containment-situations.ts'
import type { Point, Situation } from './experiments/situations.ts'
import { candidates } from './policies/candidates.ts'
import { holdfastPolicy } from './policies/holdfast.ts'
import { peer, peerNames } from './policies/peers.ts'
import type { Policy } from './policies/policy.ts'
import { duration, fixed, percent, table } from './table.ts'

const ours = (): Policy => holdfastPolicy('Holdfast')
const keeping = (): Policy => holdfastPolicy('Holdfast, keep', { onGiveUp: 'keep' })
const everyone = (): Policy[] => [ours(), ...candidates(), ...peerNames().map((name) => peer(name))]

function meanOf(situation: Situation, policy: Policy, seeds: readonly number[]): Point {
  const points = seeds.map((seed) => situation.run(policy, seed))
  const mean = (value: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + value(point) / points.length, 0)
  const { note = '' } = points[0] ?? {}
  return {
    policy: policy.name,
    requests: mean((point) => point.requests),
    success: mean((point) => point.success),
    note,
  }
}

/** Less than this is chance. */
const NOTICEABLE = 0.0005

function report(situation: Situation, policies: readonly Policy[], seeds: readonly number[] = [1]): void {
  const points = policies.map((policy) => meanOf(situation, policy, seeds))
  const [first] = points
  if (!first) return
  const isBetter = ({ requests, success }: Point): boolean =>
    success > first.success + NOTICEABLE && requests < first.requests - NOTICEABLE
  const rows = points.map((point) => [
    isBetter(point) ? '!' : '',
    point.policy,
    fixed(point.requests, 3),
    percent(point.success),
    point.note,
  ])
  process.stdout.write(`${situation.name}\n\n${table(['', 'client', 'requests', 'success %', ''], rows)}\n\n`)
}

const [what = 'shares', ...sizes] = process.argv.slice(2)
const clients = sizes.length > 0 ? sizes.map(Number) : [1000]

const RUNS: Readonly<Record<string, () => void>> = {
  shares: () => {
    for (const situation of shareSituations()) report(situation, everyone(), [1, 2, 3])
  },
  quiet: () => {
    for (const situation of quietSituations()) report(situation, everyone())
  },
  half: () => {
    for (const situation of halfCapacitySituations()) report(situation, everyone())
  },
  outage: () => {
    for (const count of clients) report(outageSituation(count, 60_000), everyone())
  },
  keep: () => {
    for (const count of clients) report(outageSituation(count), [keeping(), ours(), peer('fetch')])
  },
  restarts: () => {
    for (const state of ['restored', 'forgotten'] as const) {
      report(crashLoop(state), [...everyone(), keeping()])
      report(reloadedPage(state), everyone())
    }
  },
  tabs: () => {
    report(twoTabs(), [holdfastPolicy('Holdfast, shared', { sharing: 2 }), ...everyone()])
  },
  'retry-after': () => {
    report(saysRetryAfter(), [...everyone(), keeping()])
  },
  backlog: () => {
    for (const failing of [0, 0.01, 0.1, 0.25, 0.5]) {
      const { doneAfterMs, requests } = backlogRow(1000, failing, 1)
      process.stdout.write(
        `${percent(failing)} % fail: ${duration(doneAfterMs)}, ${fixed(requests, 2)} requests each\n`,
      )
    }
  },
}

RUNS[what]?.()

import { backlogRow } from './experiments/backlog.ts'
import { fleet, lonely, share } from './experiments/situations.ts'
import { runFleet } from './fleet.ts'
import { measure } from './measures.ts'
import { holdfastPolicy } from './policies/holdfast.ts'
import { peer } from './policies/peers.ts'
import { outage } from './scenario.ts'

const what = process.argv[2] ?? 'all'
const seeds = (process.argv[3] ?? '1,2,3').split(',').map(Number)
const LEVEL = () => holdfastPolicy('level')
const KEEPING = () => holdfastPolicy('keep', { onGiveUp: 'keep' })
const LASTS = { 1: 600_000, 20: 60_000, 200: 20_000 } as Record<number, number>
const mean = (x: number[]) => x.reduce((a, b) => a + b, 0) / x.length
const f = (x: number, d = 2) => x.toFixed(d)
if (what === 'all' || what === 'shares')
  for (const rate of [0.25, 0.5, 0.75, 1])
    console.log(
      rate,
      [1, 20, 200]
        .map((ps) => {
          const p = seeds.map((s) => share(rate, ps, LASTS[ps]!).run(LEVEL(), s))
          return `${ps}/s ${f(mean(p.map((x) => x.requests)))}/${f(100 * mean(p.map((x) => x.success)), 1)}`
        })
        .join('  '),
    )
if (what === 'all' || what === 'quiet')
  console.log('lonely', seeds.map((s) => f(lonely(1).run(LEVEL(), s).requests)).join(' '))
if (what === 'all' || what === 'half')
  for (const server of ['sheds', 'queues'] as const)
    for (const seed of seeds) {
      const scenario = outage({ clients: 1000, server, kind: 'slow', observedMs: 60_000 })
      const one = (p: any) => {
        const log = runFleet({ scenario, policy: p, seed })
        return { o: measure(log, scenario), all: fleet({ name: '', scenario }).run(p, seed) }
      }
      const l = one(LEVEL())
      const n = one(peer('fetch'))
      console.log(
        'half',
        server,
        'in outage',
        f(100 * l.o.successInOutage, 1),
        'of',
        f(100 * n.o.successInOutage, 1),
        '=',
        f(l.o.successInOutage / n.o.successInOutage),
        'all',
        f(l.all.requests),
        f(100 * l.all.success, 1),
        'none',
        f(100 * n.all.success, 1),
      )
    }
if (what === 'all' || what === 'outage')
  for (const n of (process.argv[4] ?? '1000').split(',').map(Number))
    for (const seed of seeds)
      console.log(
        'outage',
        n,
        fleet({ name: '', scenario: outage({ clients: n, observedMs: 60_000 }) }).run(LEVEL(), seed).note,
      )
if (what === 'all' || what === 'keep')
  for (const n of (process.argv[4] ?? '1000').split(',').map(Number))
    for (const seed of seeds)
      console.log(
        'keep',
        n,
        fleet({ name: '', scenario: outage({ clients: n, observedMs: 240_000 }) }).run(KEEPING(), seed).note,
      )
if (what === 'all' || what === 'backlog')
  console.log(
    'backlog',
    [0, 0.1, 0.25, 0.5]
      .map((x) => {
        const r = backlogRow(1000, x, 1)
        return `${x}: ${f(r.doneAfterMs / 1000, 1)}s ${f(r.requests)}`
      })
      .join('  '),
  )

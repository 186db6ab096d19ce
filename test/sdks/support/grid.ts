import { describe, it } from 'vitest'
import { type Cell, type CellPlan, type Counted, cell, type SdkCall } from './cell.ts'
import { setEnvironment } from './environment.ts'
import type { Fault } from './faulty-api.ts'
import { guideRow } from './guide.ts'

/** A row of the guide's table: calls that behave alike. */
export interface Row {
  /** Its first column in the guide. */
  readonly title: string
  /** What makes the key of each request: the SDK, or its caller, or our client. Without it there is no key. */
  readonly keysBy?: 'the SDK' | 'our client'
  readonly calls: Readonly<Record<string, SdkCall>>
}

type Condition = Omit<CellPlan, 'keys'>
type Cells = ReadonlyMap<string, Cell>

const passing: readonly Fault[] = [
  'lost answer',
  'reset',
  '500 after the work',
  '503',
  '503 with Retry-After',
  '429',
  'slow',
]

const conditions: readonly (readonly [string, Condition])[] = [
  ['fine', {}],
  ...passing.map((fault) => [fault, { faults: [fault] }] as const),
  ['always 503', { lasting: '503' }],
  ['always 429', { lasting: '429 in 20 ms' }],
]

/** Every call under every condition, by the platform's fetch and by ours. */
export function grid(rows: readonly Row[]): void {
  setEnvironment()
  const all = rows.flatMap((row) => Object.entries(row.calls).map(([name, sdk]) => ({ name, sdk, row })))
  describe.concurrent.each(all)('$name', ({ sdk, row }) => {
    it('has no more effects by our fetch than by that of the platform', async ({ expect }) => {
      const [honoured, ignored] = await Promise.all([
        cellsOf(sdk, 'honoured'),
        cellsOf(whereIgnored(sdk, row), 'ignored'),
      ])
      expect(broken(honoured, row.keysBy ? 'with keys' : 'without keys')).toEqual([])
      expect(row.keysBy ? moreEffects(ignored) : broken(ignored, 'without keys')).toEqual([])
      if (row.keysBy) expect(notDoneOnce(honoured)).toEqual([])
      expect(inTheGuide(honoured)).toEqual(guideRow(row.title))
    })
  })
}

/**
 * A key in a request counts as the server's promise to honour it. Where the server does not, `honoursKeys: false` keeps
 * the client from sending it again, and the SDK too: under the same key the client refuses.
 */
function whereIgnored(sdk: SdkCall, { keysBy }: Row): SdkCall {
  return keysBy ? { ...sdk, options: { ...sdk.options, honoursKeys: false } } : sdk
}

async function cellsOf(sdk: SdkCall, keys: CellPlan['keys']): Promise<Cells> {
  const measured = conditions.map(async ([name, condition]) => [name, await cell(sdk, { ...condition, keys })] as const)
  return new Map(await Promise.all(measured))
}

/** What no call may do, under any condition. */
function broken(cells: Cells, keys: 'with keys' | 'without keys'): string[] {
  const others = complaints(cells, ({ platform, ours }, condition) => {
    if (condition === 'fine' && platform.outcome !== 'ok') return 'the platform fails'
    if (ours.outcome !== 'ok' && platform.outcome === 'ok') return 'fails only by ours'
    if (ours.outcome !== 'ok' && classOf(ours) !== classOf(platform)) return 'another error'
    return ours.keys.length > 0 === (keys === 'with keys') ? undefined : `${ours.keys.length} keys`
  })
  return [...moreEffects(cells), ...others]
}

/** Allowed are one where the call succeeds, and as many as the platform's fetch had in the same condition. */
function moreEffects(cells: Cells): string[] {
  return complaints(cells, ({ platform, ours }) =>
    ours.effects > Math.max(platform.effects, ours.outcome === 'ok' ? 1 : 0) ? 'more effects' : undefined,
  )
}

/** A keyed call succeeds after every passing fault, with one effect and under one key. */
function notDoneOnce(cells: Cells): string[] {
  return complaints(cells, ({ ours }, condition) => {
    const done = ours.outcome === 'ok' && ours.effects === 1 && ours.keys.length === 1
    return done || condition.startsWith('always') ? undefined : 'not done once'
  })
}

function complaints(cells: Cells, judge: (cell: Cell, condition: string) => string | undefined): string[] {
  return [...cells].flatMap(([condition, cell]) => {
    const complaint = judge(cell, condition)
    const { platform, ours } = cell
    return complaint
      ? [`${complaint}: ${condition}: ${summary(platform)} ${platform.outcome} → ${summary(ours)} ${ours.outcome}`]
      : []
  })
}

/** As the guide prints it: requests and effects, a cross where the caller gets an error; of an outage the requests alone. */
function inTheGuide(cells: Cells): string[] {
  const write = (condition: string, summarise: (counted: Counted) => string): string => {
    const { platform, ours } = cells.get(condition) as Cell
    return `${summarise(platform)} → ${summarise(ours)}`
  }
  return [
    ...['lost answer', '503', '429'].map((condition) => write(condition, summary)),
    ...['always 503', 'always 429'].map((condition) => write(condition, ({ requests }) => String(requests))),
  ]
}

function summary({ requests, effects, outcome }: Counted): string {
  return `${requests}/${effects}${outcome === 'ok' ? '' : ' ✗'}`
}

function classOf({ outcome }: Counted): string {
  return outcome.slice(0, outcome.indexOf(':'))
}

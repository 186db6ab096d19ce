import { describe, it } from 'vitest'
import { type Cell, type CellPlan, type Counted, cell, type SdkCall } from './cell.ts'
import { setEnvironment } from './environment.ts'
import type { Fault } from './faulty-api.ts'
import { guideRow } from './guide.ts'

/** A row of the guide's table: calls that behave alike. */
export interface Row {
  /** Its first column in the guide. */
  readonly title: string
  /** Who makes the key that goes with every request? The SDK and its caller are one here. None by default. */
  readonly keysBy?: 'the SDK' | 'our client'
  readonly calls: Readonly<Record<string, SdkCall>>
}

type Weather = Omit<CellPlan, 'keys'>
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

const weathers: readonly (readonly [string, Weather])[] = [
  ['fine', {}],
  ...passing.map((fault) => [fault, { faults: [fault] }] as const),
  ['always 503', { lasting: '503' }],
  ['always 429', { lasting: '429 in 20 ms' }],
]

/** Every call in every weather, by the platform's fetch and by ours. */
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
 * A key in a request is taken for the server's promise to honour it; where that is not so, the client has to be told.
 * Then it sends nothing again, and nor can the SDK with the same key.
 */
function whereIgnored(sdk: SdkCall, { keysBy }: Row): SdkCall {
  return keysBy ? { ...sdk, options: { ...sdk.options, honoursKeys: false } } : sdk
}

async function cellsOf(sdk: SdkCall, keys: CellPlan['keys']): Promise<Cells> {
  const measured = weathers.map(async ([name, weather]) => [name, await cell(sdk, { ...weather, keys })] as const)
  return new Map(await Promise.all(measured))
}

/** What no call may do, in any cell. */
function broken(cells: Cells, keys: 'with keys' | 'without keys'): string[] {
  const others = complaints(cells, ({ platform, ours }, weather) => {
    if (weather === 'fine' && platform.told !== 'ok') return 'the platform fails'
    if (ours.told !== 'ok' && platform.told === 'ok') return 'fails only by ours'
    if (ours.told !== 'ok' && classOf(ours) !== classOf(platform)) return 'another error'
    return ours.keys.length > 0 === (keys === 'with keys') ? undefined : `${ours.keys.length} keys`
  })
  return [...moreEffects(cells), ...others]
}

/** One where the caller is told so; else as many as the platform's fetch had in the same weather. */
function moreEffects(cells: Cells): string[] {
  return complaints(cells, ({ platform, ours }) =>
    ours.effects > Math.max(platform.effects, ours.told === 'ok' ? 1 : 0) ? 'more effects' : undefined,
  )
}

/** A keyed call gets over every passing fault, with one effect and under one key. */
function notDoneOnce(cells: Cells): string[] {
  return complaints(cells, ({ ours }, weather) => {
    const done = ours.told === 'ok' && ours.effects === 1 && ours.keys.length === 1
    return done || weather.startsWith('always') ? undefined : 'not done once'
  })
}

function complaints(cells: Cells, judge: (cell: Cell, weather: string) => string | undefined): string[] {
  return [...cells].flatMap(([weather, cell]) => {
    const complaint = judge(cell, weather)
    const { platform, ours } = cell
    return complaint
      ? [`${complaint}: ${weather}: ${tell(platform)} ${platform.told} → ${tell(ours)} ${ours.told}`]
      : []
  })
}

/** As the guide has it: requests and effects, and a cross where the caller gets an error; of an outage the requests. */
function inTheGuide(cells: Cells): string[] {
  const write = (weather: string, tellOf: (counted: Counted) => string): string => {
    const { platform, ours } = cells.get(weather) as Cell
    return `${tellOf(platform)} → ${tellOf(ours)}`
  }
  return [
    ...['lost answer', '503', '429'].map((weather) => write(weather, tell)),
    ...['always 503', 'always 429'].map((weather) => write(weather, ({ requests }) => String(requests))),
  ]
}

function tell({ requests, effects, told }: Counted): string {
  return `${requests}/${effects}${told === 'ok' ? '' : ' ✗'}`
}

function classOf({ told }: Counted): string {
  return told.slice(0, told.indexOf(':'))
}

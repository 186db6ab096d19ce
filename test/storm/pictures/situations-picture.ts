import { frontOf } from '../experiments/front.ts'
import type { Role } from '../experiments/situation-groups.ts'
import type { SituationRow } from '../experiments/situation-rows.ts'
import { fixed, grouped, percent } from '../table.ts'
import type { Picture } from './draw.ts'
import { edgeOf, type Label, placeLabels, type Spot } from './labels.ts'

/** The picture's file has the name of the group. */
export type PictureRow = Omit<SituationRow, 'group'> & { readonly group: string }

const SIZE = { width: 370, height: 240 }
const COLUMNS = 2
const OURS = '#D55E00'
const PEERS = '#555555'
const FRONT = '#0072B2'

/** What each client costs and what it gets done, a panel for each situation. */
export function situationsPicture(rows: readonly PictureRow[]): Picture {
  const [first] = rows
  const shown = rows.filter(({ role }) => role !== 'candidate')
  const panels = [...grouped(shown, ({ situation }) => situation).values()]
  return {
    file: `${first?.group}.svg`,
    title: first?.title ?? '',
    description: `Requests per operation (to the right) and share of calls that succeed (up), for each client. ${panels.map(inWords).join(' ')}`,
    spec: {
      title: {
        text: '',
        subtitle:
          'orange: Holdfast, as it comes (filled) and with an option set (hollow); blue: no other client is better',
      },
      columns: COLUMNS,
      concat: panels.map(panelOf),
      spacing: 24,
    } as unknown as Picture['spec'],
  }
}

function inWords(rows: readonly PictureRow[]): string {
  const front = rows.filter(({ isOnFront }) => isOnFront).map(({ policy }) => policy)
  const ours = rows.find(({ role }) => role === 'default')
  const numbers = ours ? `Holdfast ${fixed(ours.requests, 2)} and ${percent(ours.success)} %; ` : ''
  return `${rows[0]?.situation}: ${numbers}on the front: ${front.join('; ')}.`
}

interface Scale {
  readonly type: 'linear' | 'log'
  readonly domain: readonly [number, number]
}

interface Scales {
  readonly x: Scale
  readonly y: Scale
}

function panelOf(rows: readonly PictureRow[]): object {
  const scales = { x: requestsScale(rows), y: successScale(rows) }
  const axes = axesOf(scales)
  const labels = labelsOf(rows, scales)
  const of = (wanted: Role): PictureRow[] => rows.filter(({ role }) => role === wanted)
  return {
    title: { text: rows[0]?.situation, fontSize: 12, fontWeight: 'normal', offset: 6 },
    ...SIZE,
    layer: [
      {
        data: { values: frontOf(rows) },
        mark: { type: 'line', color: FRONT, strokeWidth: 2, opacity: 0.6 },
        encoding: axes,
      },
      leadersOf(labels),
      pointsOf(of('peer'), { filled: true, color: PEERS, size: 36 }, axes),
      pointsOf(of('variant'), { filled: false, color: OURS, size: 70 }, axes),
      pointsOf(of('default'), { filled: true, color: OURS, size: 130 }, axes),
      textsOf(labels),
    ],
  }
}

const IN_PIXELS = {
  x: { field: 'x', type: 'quantitative', scale: null },
  y: { field: 'y', type: 'quantitative', scale: null },
} as const

/** From a point to a label that is far from it. */
function leadersOf(labels: readonly Label[]): object {
  const values = labels
    .filter(({ isFar }) => isFar)
    .map((label) => ({ ...label.of, x2: edgeOf(label).x, y2: edgeOf(label).y }))
  return {
    data: { values },
    mark: { type: 'rule', color: '#999999', strokeWidth: 0.7 },
    encoding: { ...IN_PIXELS, x2: { field: 'x2' }, y2: { field: 'y2' } },
  }
}

function textsOf(labels: readonly Label[]): object {
  return {
    data: { values: labels.map(({ text, x, firstLineY }) => ({ text, x, y: firstLineY })) },
    mark: { type: 'text', fontSize: 10, lineBreak: '\n', lineHeight: 11, baseline: 'middle' },
    encoding: {
      ...IN_PIXELS,
      text: { field: 'text', type: 'nominal' },
      color: { condition: { test: "indexof(datum.text, 'Holdfast') >= 0", value: OURS }, value: '#222222' },
    },
  }
}

function pointsOf(rows: readonly PictureRow[], look: object, encoding: object): object {
  const values = rows.map(({ requests, success }) => ({ requests, success }))
  return { data: { values }, mark: { type: 'point', opacity: 1, strokeWidth: 1.5, ...look }, encoding }
}

function axesOf({ x, y }: Scales): object {
  const onlyZero = y.domain[0] === NOTHING_SUCCEEDS[0]
  return {
    x: {
      field: 'requests',
      type: 'quantitative',
      title: `requests per operation${x.type === 'log' ? ' (log)' : ''}`,
      scale: { ...x, nice: false },
      axis: { tickCount: 6, format: '~g' },
    },
    y: {
      field: 'success',
      type: 'quantitative',
      title: 'calls that succeed',
      scale: { ...y, nice: false },
      axis: { format: '~%', ...(onlyZero ? { values: [0] } : { tickCount: 5 }) },
    },
  }
}

/** Where some clients send many times what others send, only a logarithm shows both. */
const WIDE = 6

function requestsScale(rows: readonly PictureRow[]): Scale {
  const all = rows.map(({ requests }) => requests)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  if (most / least > WIDE) return { type: 'log', domain: [least / 1.3, most * 1.3] }
  const margin = Math.max(0.05, (most - least) * 0.08)
  return { type: 'linear', domain: [Math.max(0, least - margin), most + margin] }
}

/** All points are on one line then; the room is for their names. */
const NOTHING_SUCCEEDS = [-0.5, 0.5] as const

function successScale(rows: readonly PictureRow[]): Scale {
  const all = rows.map(({ success }) => success)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  if (most === 0) return { type: 'linear', domain: NOTHING_SUCCEEDS }
  const margin = Math.max(0.01, (most - least) * 0.12)
  return { type: 'linear', domain: [least - margin, most + margin] }
}

/** Holdfast and the front first: they get the best places. */
function labelsOf(rows: readonly PictureRow[], scales: Scales): Label[] {
  const spotOf = ({ requests, success }: PictureRow): Spot => ({
    x: SIZE.width * place(requests, scales.x),
    y: SIZE.height * (1 - place(success, scales.y)),
  })
  const points = [...rows]
    .sort((one, other) => weight(one) - weight(other))
    .map((row) => ({ name: shortName(row.policy), isAlone: row.role !== 'peer', ...spotOf(row) }))
  return placeLabels(points, { ...SIZE, line: frontOf(rows).map(spotOf) })
}

function weight({ role, isOnFront }: PictureRow): number {
  if (role !== 'peer') return 1
  return isOnFront ? 2 : 3
}

function place(value: number, { type, domain }: Scale): number {
  const at = type === 'log' ? Math.log : (plain: number): number => plain
  return (at(value) - at(domain[0])) / (at(domain[1]) - at(domain[0]))
}

/** Which of their settings was taken is said in the tables. */
function shortName(policy: string): string {
  return policy.replace(/, 3 retries| \(.*\)| RetryAgent|, no retry/, '')
}

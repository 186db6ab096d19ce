import type { SituationRow } from '../experiments/situation-rows.ts'
import { fixed, grouped, percent } from '../table.ts'
import type { Picture } from './draw.ts'
import { edgeOf, type Label, placeLabels } from './labels.ts'

const SIZE = { width: 400, height: 250 }
const COLUMNS = 2
const OURS = '#D55E00'
const PEERS = '#555555'
const FRONT = '#0072B2'

/** What each client costs and what it gets done, a panel for each situation. */
export function situationsPicture(rows: readonly SituationRow[]): Picture {
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
        subtitle: 'orange: Holdfast, as it comes (filled) and with an option set (hollow); blue: no other client is better',
      },
      columns: COLUMNS,
      concat: panels.map(panelOf),
      spacing: 24,
    } as unknown as Picture['spec'],
  }
}

function inWords(rows: readonly SituationRow[]): string {
  const front = rows.filter(({ isOnFront }) => isOnFront).map(({ policy }) => policy)
  const ours = rows.find(({ role }) => role === 'default')
  const numbers = ours ? `Holdfast ${fixed(ours.requests, 2)} and ${percent(ours.success)} %; ` : ''
  return `${rows[0]?.situation}: ${numbers}on the front: ${front.join('; ')}.`
}

interface Scale {
  readonly type: 'linear' | 'log'
  readonly domain: readonly [number, number]
}

function panelOf(rows: readonly SituationRow[]): object {
  const [x, y] = [requestsScale(rows), successScale(rows)]
  const labels = labelsOf(rows, x, y)
  const values = rows.map(({ policy, role, requests, success }) => ({ policy, role, requests, success }))
  const front = rows.filter(({ isOnFront }) => isOnFront)
  const pixel = { scale: null } as const
  const lines = labels.filter(({ isFar }) => isFar).map((label) => ({ label, edge: edgeOf(label) }))
  return {
    title: { text: rows[0]?.situation, fontSize: 12, fontWeight: 'normal', offset: 6 },
    ...SIZE,
    layer: [
      { data: { values: front }, mark: { type: 'line', color: FRONT, strokeWidth: 2, opacity: 0.6 }, encoding: axes(x, y) },
      {
        data: { values: lines.map(({ label, edge }) => ({ x: label.of.x, y: label.of.y, x2: edge.x, y2: edge.y })) },
        mark: { type: 'rule', color: '#999999', strokeWidth: 0.7 },
        encoding: {
          x: { field: 'x', type: 'quantitative', ...pixel },
          y: { field: 'y', type: 'quantitative', ...pixel },
          x2: { field: 'x2' },
          y2: { field: 'y2' },
        },
      },
      pointsOf(values.filter(({ role }) => role === 'peer'), { filled: true, color: PEERS, size: 36 }, axes(x, y)),
      pointsOf(values.filter(({ role }) => role === 'variant'), { filled: false, color: OURS, size: 70 }, axes(x, y)),
      pointsOf(values.filter(({ role }) => role === 'default'), { filled: true, color: OURS, size: 130 }, axes(x, y)),
      {
        data: { values: labels.map(({ text, x: at, y: height }) => ({ text, x: at, y: height })) },
        mark: { type: 'text', fontSize: 10, lineBreak: '\n', lineHeight: 11, baseline: 'middle', color: '#222222' },
        encoding: {
          x: { field: 'x', type: 'quantitative', ...pixel },
          y: { field: 'y', type: 'quantitative', ...pixel },
          text: { field: 'text', type: 'nominal' },
          color: {
            condition: { test: "indexof(datum.text, 'Holdfast') >= 0", value: OURS },
            value: '#222222',
          },
        },
      },
    ],
    resolve: { scale: { x: 'shared', y: 'shared' } },
  }
}

function pointsOf(values: readonly object[], look: object, encoding: object): object {
  return { data: { values }, mark: { type: 'point', opacity: 1, strokeWidth: 1.5, ...look }, encoding }
}

function axes(x: Scale, y: Scale): object {
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
      axis: { tickCount: 5, format: '~%' },
    },
  }
}

/** Where some clients send many times what others send, only a logarithm shows both. */
const WIDE = 6

function requestsScale(rows: readonly SituationRow[]): Scale {
  const all = rows.map(({ requests }) => requests)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  if (most / least > WIDE) return { type: 'log', domain: [least / 1.3, most * 1.3] }
  const margin = Math.max(0.05, (most - least) * 0.08)
  return { type: 'linear', domain: [Math.max(0, least - margin), most + margin] }
}

function successScale(rows: readonly SituationRow[]): Scale {
  const all = rows.map(({ success }) => success)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const margin = most === least ? 0.5 : (most - least) * 0.12
  return { type: 'linear', domain: [least === 0 ? -margin / 2 : least - margin, most + margin] }
}

/** Holdfast and the front first: they get the best places. */
function labelsOf(rows: readonly SituationRow[], x: Scale, y: Scale): Label[] {
  const weight = ({ role, isOnFront }: SituationRow): number => (role === 'peer' ? (isOnFront ? 2 : 3) : 1)
  const points = [...rows]
    .sort((one, other) => weight(one) - weight(other))
    .map((row) => ({
      name: shortName(row.policy),
      x: SIZE.width * place(row.requests, x),
      y: SIZE.height * (1 - place(row.success, y)),
    }))
  return placeLabels(points, SIZE)
}

function place(value: number, { type, domain }: Scale): number {
  const at = type === 'log' ? Math.log : (plain: number): number => plain
  return (at(value) - at(domain[0])) / (at(domain[1]) - at(domain[0]))
}

/** Which of their settings was taken is said in the tables. */
function shortName(policy: string): string {
  return policy.replace(/, 3 retries| \(.*\)| RetryAgent|, no retry/, '')
}

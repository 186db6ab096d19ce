import type { BlipLoadRow } from '../experiments/blip-load.ts'
import { grouped } from '../table.ts'
import type { Picture } from './draw.ts'

/** What reaches the server in a blip and after it, a panel for each fleet. */
export function blipLoadPicture(rows: readonly BlipLoadRow[]): Picture {
  const order = [...new Set(rows.map(({ policy }) => policy))]
  const panels = [...grouped(rows, ({ trouble }) => trouble)]
  return {
    file: 'blip-load.svg',
    title: 'Load while the server is away for a second',
    description:
      'Lines over time with the blip shaded: requests as a multiple of the calls, for ' +
      `${order.join('; ')}. One panel for one process, one for a thousand. Holdfast falls to a few requests in the blip; what ` +
      'has waited comes when the server is back. The others send up to several times the usual load in the blip and after it.',
    spec: {
      title: { text: '', subtitle: 'shaded: the server answers 503' },
      vconcat: panels.map(([trouble, own]) => panelOf(trouble, own, order)),
    } as Picture['spec'],
  }
}

function panelOf(trouble: string, rows: readonly BlipLoadRow[], order: readonly string[]): object {
  const values = rows.flatMap(({ policy, series }) => series.map((point) => ({ policy, ...point })))
  const blip = { from: 0, until: (rows[0]?.lastsMs ?? 0) / 1000 }
  return {
    title: { text: trouble, fontSize: 12, fontWeight: 'normal', offset: 6 },
    width: 640,
    height: 180,
    data: { values },
    layer: [
      {
        data: { values: [blip] },
        mark: { type: 'rect', color: '#000000', opacity: 0.08 },
        encoding: { x: { field: 'from', type: 'quantitative' }, x2: { field: 'until' } },
      },
      {
        mark: { type: 'line', strokeWidth: 2, interpolate: 'step-after' },
        encoding: {
          x: { field: 'second', type: 'quantitative', title: 'time (seconds)', scale: { nice: false } },
          y: { field: 'load', type: 'quantitative', title: 'requests per call' },
          color: {
            field: 'policy',
            type: 'nominal',
            sort: order,
            legend: { title: null, orient: 'bottom', columns: 3 },
          },
        },
      },
    ],
  }
}

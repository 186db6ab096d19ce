import type { LoadRow } from '../experiments/load.ts'
import { OUTAGE } from '../scenario.ts'
import type { Picture } from './draw.ts'

/** Long enough to see who recovers. */
const SHOWN_SECONDS = 120

/** The load on the server, and what callers get, second by second. */
export function loadPicture(rows: readonly LoadRow[]): Picture {
  const clients = rows[0]?.clients ?? 0
  const order = rows.map(({ policy }) => policy)
  const values = rows.flatMap(({ policy, series }) =>
    series.filter(({ second }) => second <= SHOWN_SECONDS).map((point) => ({ policy, ...point })),
  )
  const outage = { from: OUTAGE.from / 1000, until: OUTAGE.until / 1000 }
  const colour = {
    field: 'policy',
    type: 'nominal',
    sort: order,
    legend: { title: null, orient: 'bottom', columns: 2 },
  } as const
  const shade = {
    data: { values: [outage] },
    mark: { type: 'rect', color: '#000000', opacity: 0.08 },
    encoding: { x: { field: 'from', type: 'quantitative' }, x2: { field: 'until' } },
  } as const
  const x = { field: 'second', type: 'quantitative', title: 'time (seconds)', scale: { nice: false } } as const
  return {
    file: 'load.svg',
    title: `Load during and after an outage, ${clients} clients`,
    description:
      'Two charts over time with the outage shaded. Above, the requests per second as a multiple of the capacity of the ' +
      `server, for ${order.join('; ')}; a dashed line marks the capacity. Below, the share of new operations whose caller ` +
      'gets an answer. Policies that stay above the capacity after the outage do not let the server recover.',
    spec: {
      title: {
        text: '',
        subtitle: 'shaded: every request fails; dashed: the capacity, of which 70 % are used before',
      },
      data: { values },
      vconcat: [
        {
          width: 640,
          height: 240,
          layer: [
            shade,
            {
              data: { values: [{ load: 1 }] },
              mark: { type: 'rule', strokeDash: [6, 4], color: '#222' },
              encoding: { y: { field: 'load', type: 'quantitative' } },
            },
            {
              mark: { type: 'line', strokeWidth: 2 },
              encoding: {
                x,
                y: { field: 'load', type: 'quantitative', title: 'requests (x capacity)' },
                color: colour,
              },
            },
          ],
        },
        {
          width: 640,
          height: 120,
          layer: [
            shade,
            {
              mark: { type: 'line', strokeWidth: 2 },
              encoding: {
                x,
                y: {
                  field: 'answered',
                  type: 'quantitative',
                  title: 'callers answered',
                  axis: { format: '%', tickCount: 3 },
                },
                color: colour,
              },
            },
          ],
        },
      ],
    },
  }
}

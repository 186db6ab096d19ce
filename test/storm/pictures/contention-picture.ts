import { type ContentionRow, WAYS_OF_WAITING } from '../experiments/contention.ts'
import type { Picture } from './draw.ts'

export function contentionPicture(rows: readonly ContentionRow[]): Picture {
  const values = rows.map((row) => ({ ...row, seconds: row.completionMs / 1000 }))
  const color = {
    field: 'waiting',
    type: 'nominal',
    sort: [...WAYS_OF_WAITING],
    legend: { title: null, orient: 'bottom' },
  } as const
  const x = {
    field: 'clients',
    type: 'quantitative',
    title: 'clients that want the same row',
    axis: { tickCount: 5 },
  } as const
  const mark = { type: 'line', strokeWidth: 2, point: { size: 30, filled: true } } as const
  const panel = { width: 290, height: 240, mark }
  return {
    file: 'contention.svg',
    title: 'Clients that contend for one row',
    description:
      'Two charts over the number of clients, for no delay, back-off without jitter, equal, full and decorrelated jitter. Left, ' +
      'the calls made in all: full and equal jitter need a third of what no delay needs at 100 clients. Right, the time until ' +
      'all are done, on a logarithmic scale: back-off without jitter takes ten times as long as any jitter.',
    spec: {
      data: { values },
      hconcat: [
        { ...panel, encoding: { x, y: { field: 'calls', type: 'quantitative', title: 'calls' }, color } },
        {
          ...panel,
          encoding: {
            x,
            y: {
              field: 'seconds',
              type: 'quantitative',
              title: 'all done after (seconds, log)',
              scale: { type: 'log' },
            },
            color,
          },
        },
      ],
    },
  }
}

import type { SpreadRow } from '../experiments/spread.ts'
import type { Picture } from './draw.ts'

export function spreadPicture(rows: readonly SpreadRow[]): Picture {
  const policies = [...new Set(rows.map(({ policy }) => policy))]
  return {
    file: 'spread.svg',
    title: 'Busy processes are held by their limits, quiet ones are not',
    description:
      'Lines of requests per operation in a minute of total outage over the number of operations that each client makes in ' +
      `it, from 1 to 1000, for ${policies.join('; ')}. Where limits live in the process, the lines start high at one operation ` +
      'and fall; three retries without a limit stay at 4.',
    spec: {
      title: { text: '', subtitle: 'one minute in which every request fails; dashed: one request per operation' },
      width: 600,
      height: 300,
      data: { values: [...rows] },
      layer: [
        {
          data: { values: [{ amplification: 1 }] },
          mark: { type: 'rule', strokeDash: [6, 4], color: '#222' },
          encoding: { y: { field: 'amplification', type: 'quantitative' } },
        },
        {
          mark: { type: 'line', strokeWidth: 2, point: { size: 45, filled: true } },
          encoding: {
            x: {
              field: 'operationsPerClient',
              type: 'quantitative',
              title: 'operations per client in the outage (log)',
              scale: { type: 'log', domain: [1, 1000] },
              axis: { values: [1, 3, 10, 30, 100, 300, 1000], format: 'd', labelFlush: false },
            },
            y: {
              field: 'amplification',
              type: 'quantitative',
              title: 'requests per operation',
              scale: { domain: [0, 5.2], nice: false },
              axis: { tickCount: 6 },
            },
            color: {
              field: 'policy',
              type: 'nominal',
              sort: policies,
              legend: { title: null, orient: 'bottom', columns: 2 },
            },
          },
        },
      ],
    },
  }
}

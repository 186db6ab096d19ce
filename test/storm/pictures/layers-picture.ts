import type { LayersRow } from '../experiments/layers.ts'
import type { Picture } from './draw.ts'

export function layersPicture(rows: readonly LayersRow[]): Picture {
  const modes = [...new Set(rows.map(({ mode }) => mode))]
  const text = { field: 'amplification', type: 'quantitative', format: '.3~r' } as const
  return {
    file: 'layers.svg',
    title: 'Requests at the bottom of a chain, per operation at the top',
    description:
      'Lines over one to four layers, on a logarithmic scale. Where each layer tries three times the requests grow from 3 to ' +
      '81; where do-not-retry is passed on they stay at 3; with a gate in each layer they stay far below one.',
    spec: {
      title: {
        text: '',
        subtitle: 'each layer may try three times; the last service fails always; 100 operations per second',
      },
      width: 560,
      height: 280,
      data: { values: [...rows] },
      layer: [
        { mark: { type: 'line', strokeWidth: 2, point: { size: 60, filled: true } } },
        { mark: { type: 'text', dy: -10, fontSize: 11 }, encoding: { text } },
      ],
      encoding: {
        x: { field: 'layers', type: 'ordinal', title: 'layers that retry', axis: { labelAngle: 0 } },
        y: {
          field: 'amplification',
          type: 'quantitative',
          title: 'requests per operation (log)',
          scale: { type: 'log', domain: [0.002, 200] },
          axis: { tickCount: 5, format: '~g' },
        },
        color: { field: 'mode', type: 'nominal', sort: modes, legend: { title: null, orient: 'bottom', columns: 2 } },
      },
    },
  }
}

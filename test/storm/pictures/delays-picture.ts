import { type DelaySamples, RETRIES } from '../experiments/delays.ts'
import type { Picture } from './draw.ts'

const LONGEST_MS = 8000
const BINS = 40

/** How the jitters spread the delays before each retry. */
export function delaysPicture(samples: readonly DelaySamples[]): Picture {
  return {
    file: 'delays.svg',
    title: 'How long each jitter waits before a retry',
    description:
      'Histograms of the delay before retries 0 to 6, one column for each jitter. Full jitter spreads evenly from zero to a ' +
      'ceiling that doubles; equal jitter spreads over the upper half of that; decorrelated jitter starts at the base and has a ' +
      'long tail; without jitter every delay is the same.',
    spec: {
      title: { text: '', subtitle: 'base 100 ms, cap 20 s; each histogram is scaled to its own highest bar' },
      data: { values: samples.flatMap(barsOf) },
      facet: {
        column: { field: 'jitter', type: 'nominal', title: null, sort: samples.map(({ jitter }) => jitter) },
        row: { field: 'retry', type: 'ordinal', title: 'retry', header: { labelAngle: 0, labelAlign: 'left' } },
      },
      spec: {
        width: 170,
        height: 36,
        mark: { type: 'bar', color: '#0072B2' },
        encoding: {
          x: {
            field: 'from',
            type: 'quantitative',
            title: 'delay (seconds)',
            scale: { domain: [0, LONGEST_MS / 1000] },
            axis: { tickCount: 4 },
          },
          x2: { field: 'until' },
          y: { field: 'share', type: 'quantitative', axis: null },
        },
      },
      spacing: { row: 6, column: 14 },
    },
  }
}

interface Bar {
  readonly jitter: string
  readonly retry: number
  readonly from: number
  readonly until: number
  readonly share: number
}

/** Bars as wide as a fortieth of the ceiling of each retry, so that early retries can be seen as well. */
function barsOf({ jitter, delays }: DelaySamples): Bar[] {
  return RETRIES.flatMap((retry) => {
    const sample = delays[retry] ?? []
    const width = Math.max(50, Math.min(LONGEST_MS, 100 * 2 ** retry * (jitter === 'decorrelated' ? 3 : 1)) / BINS)
    const counts = new Map<number, number>()
    for (const delay of sample) {
      const bin = Math.floor(Math.min(delay, LONGEST_MS - 1) / width)
      counts.set(bin, (counts.get(bin) ?? 0) + 1)
    }
    const most = Math.max(...counts.values())
    return [...counts]
      .sort(([one], [other]) => one - other)
      .map(([bin, count]) => ({
        jitter,
        retry,
        from: (bin * width) / 1000,
        until: ((bin + 1) * width) / 1000,
        share: count / most,
      }))
  })
}

import { type DelaySamples, RETRIES } from '../experiments/delays.ts'
import type { Picture } from './draw.ts'

/** Bars of equal width on a logarithmic scale, from 10 ms to the cap. */
const SHORTEST_MS = 10
const LONGEST_MS = 20_000
const BARS = 48

/** How the jitters spread the delays before each retry. */
export function delaysPicture(samples: readonly DelaySamples[]): Picture {
  return {
    file: 'delays.svg',
    title: 'How long each jitter waits before a retry',
    description:
      'Histograms of the delay before retries 0 to 6 on a logarithmic scale, one column for each jitter. Full jitter spreads ' +
      'from zero to a ceiling that doubles with each retry; equal jitter stays in the upper half below that ceiling; ' +
      'decorrelated jitter starts at the base and grows a long tail; without jitter every delay is the same.',
    spec: {
      title: {
        text: '',
        subtitle:
          'base 100 ms, cap 20 s; each histogram is scaled to its own highest bar; the bar at 0.01 holds all shorter delays',
      },
      data: { values: samples.flatMap(barsOf) },
      facet: {
        column: { field: 'jitter', type: 'nominal', title: null, sort: samples.map(({ jitter }) => jitter) },
        row: { field: 'retry', type: 'ordinal', title: 'retry', header: { labelAngle: 0, labelAlign: 'left' } },
      },
      spec: {
        width: 170,
        height: 36,
        mark: { type: 'rect', color: '#0072B2' },
        encoding: {
          x: {
            field: 'from',
            type: 'quantitative',
            title: 'delay (seconds, log)',
            scale: { type: 'log', domain: [SHORTEST_MS / 1000, LONGEST_MS / 1000], nice: false },
            axis: { values: [0.01, 0.1, 1, 10], format: '~g', labelOverlap: false },
          },
          x2: { field: 'until' },
          y: { field: 'share', type: 'quantitative', axis: null },
          y2: { datum: 0 },
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

function barsOf({ jitter, delays }: DelaySamples): Bar[] {
  const edge = (bar: number): number => (SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** (bar / BARS)) / 1000
  return RETRIES.flatMap((retry) => {
    const counts = countsOf(delays[retry] ?? [])
    const most = Math.max(...counts)
    const bars = counts.map((count, bar) => ({
      jitter,
      retry,
      from: edge(bar),
      until: edge(bar + 1),
      share: count / most,
    }))
    return bars.filter(({ share }) => share > 0)
  })
}

/** Shorter delays count in the first bar: with full jitter there always are some. */
function countsOf(sample: readonly number[]): number[] {
  const counts = Array.from({ length: BARS }, () => 0)
  for (const delay of sample) {
    const place = Math.log(Math.max(delay, SHORTEST_MS) / SHORTEST_MS) / Math.log(LONGEST_MS / SHORTEST_MS)
    const bar = Math.min(BARS - 1, Math.floor(place * BARS))
    counts[bar] = (counts[bar] ?? 0) + 1
  }
  return counts
}

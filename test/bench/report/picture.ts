import type { Picture } from '../../storm/pictures/draw.ts'
import type { Results } from '../results.ts'
import { ratioOf } from './spread.ts'

/** Where clients differ most: one connection after the other hides what a client costs. */
const CONCURRENCY = 64

interface Bar {
  readonly call: string
  readonly client: string
  readonly median: number
  readonly min: number
  readonly max: number
}

/** What each client reaches of undici.request, GET beside POST; undefined where neither was measured. */
export function ratioPicture(results: Results): Picture | undefined {
  const values = [...barsOf('GET', results.get), ...barsOf('POST', results.post)]
  if (values.length === 0) return undefined
  return {
    file: 'performance.svg',
    title: `Requests per second with ${CONCURRENCY} at once, as a share of undici.request`,
    description: `Horizontal bars, one for each client. ${values.map(sentenceOf).join('; ')}.`,
    spec: {
      title: { text: '', subtitle: 'median of the rounds; the line goes from the worst round to the best' },
      data: { values },
      facet: {
        row: {
          field: 'call',
          type: 'nominal',
          title: null,
          header: { labelAngle: 0, labelOrient: 'top', labelAnchor: 'start' },
        },
      },
      resolve: { scale: { y: 'independent' } },
      spec: {
        width: 460,
        height: { step: 20 },
        encoding: { y: { field: 'client', type: 'nominal', title: null, sort: '-x', axis: { labelLimit: 0 } } },
        layer: [
          {
            mark: { type: 'bar', height: 12 },
            encoding: {
              x: { field: 'median', type: 'quantitative', title: 'share of undici.request', scale: { domainMin: 0 } },
              color: {
                condition: { test: 'test(/Holdfast|client/, datum.client)', value: '#0072B2' },
                value: '#999999',
              },
            },
          },
          {
            mark: { type: 'rule', color: '#222' },
            encoding: { x: { field: 'min', type: 'quantitative' }, x2: { field: 'max' } },
          },
        ],
      },
    },
  }
}

function barsOf(call: string, section: Results['get']): readonly Bar[] {
  const comparison = section?.comparisons?.find(({ concurrency }) => concurrency === CONCURRENCY)
  if (!comparison) return []
  const others = comparison.measured.filter(({ name }) => name !== comparison.baseline)
  return others.map(({ name }) => ({ call, client: name, ...ratioOf(comparison, name) }))
}

function sentenceOf({ call, client, median }: Bar): string {
  return `${call} ${client} ${median.toFixed(2)}`
}

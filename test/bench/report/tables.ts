import type { Comparison, Fact, Section, SectionName } from '../results.ts'
import { noisyComparisons } from './noise.ts'
import { measuredOf, ratioOf, type Spread, spreadOf } from './spread.ts'

type Cell = string
type Row = readonly Cell[]

/** The tables of a section as Markdown, with a sentence about the run that they come from. */
export function tablesOf(name: SectionName, section: Section): string {
  return [...TABLES[name](section), originOf(section)].join('\n\n')
}

const TABLES: Readonly<Record<SectionName, (section: Section) => readonly string[]>> = {
  get: throughput,
  post: throughput,
  cpu,
  promises: ({ facts }) => [factTable('promises per call', { get: 'GET', post: 'POST' }, facts)],
  heap: ({ facts }) => [
    factTable('', { calls: 'calls', retainedKb: 'KB retained', bytesPerCall: 'bytes per call' }, facts),
  ],
  settled: ({ comparisons = [] }) => [ratios(comparisons)],
  resume: ({ facts }) => [factTable('', RESUME, facts)],
  browser: ({ comparisons = [] }) => [ratios(comparisons)],
  server: ({ comparisons = [], facts }) => [
    protectedHandlers(comparisons),
    factTable('milliseconds', DUPLICATES, facts),
  ],
  fleet: ({ comparisons = [] }) => [fleet(comparisons)],
  scale: ({ facts = [] }) => {
    const isFleet = ({ values }: Fact): boolean => 'doubled' in values
    const sizes = facts.filter((fact) => !isFleet(fact))
    return [factTable('', SCALE, sizes), factTable('', FLEET, facts.filter(isFleet))]
  },
  growth: ({ facts = [] }) => {
    const isChurn = ({ values }: Fact): boolean => 'mostEntries' in values
    return [
      factTable(
        '',
        GROWTH,
        facts.filter((fact) => !isChurn(fact)),
      ),
      factTable('', CHURN, facts.filter(isChurn)),
    ]
  },
}

const RESUME = {
  pending: 'operations',
  seconds: 'seconds',
  perSecond: 'per second',
  heapBeforeMb: 'heap before, MB',
  heapPeakMb: 'peak heap, MB',
}

const DUPLICATES = {
  bareMs: 'bare handler',
  protectedMs: 'protected handler',
  duplicateMs: 'duplicate',
  longestDuplicateMs: 'longest duplicate',
}

const GROWTH = {
  claimsPerSecond: 'new keys per second',
  replaysPerSecond: 'replays per second',
  reapMs: 'ms to reap 1,000',
  bytesPerEntry: 'bytes per entry',
}

const CHURN = {
  claimsPerSecond: 'new keys per second',
  entriesWritten: 'entries written',
  mostEntries: 'most at a time',
  megabytes: 'MB in the end',
  hotShare: 'share of updates in place',
}

const SCALE = {
  surveyMs: 'ms, a survey',
  claimMs: 'ms, a claim of 64',
  perSecond: 'resumed per second',
  waitingSurveyMs: 'ms, a survey, few due',
  waitingClaimMs: 'ms, a claim, few due',
  bytesPerRecord: 'bytes per record',
}

const FLEET = {
  operations: 'operations',
  seconds: 'seconds',
  perSecond: 'per second',
  doubled: 'sent twice',
  earlyMb: 'MB per process, early',
  lateMb: 'MB per process, late',
}

/** A row for each contender. The first has its operations per second, the others a share of it. */
function fleet(comparisons: readonly Comparison[]): string {
  const [first] = comparisons
  const others = (first?.measured ?? []).map(({ name }) => name).filter((name) => name !== first?.baseline)
  const heading = ({ title, concurrency }: Comparison): Cell =>
    title === 'backlog' ? 'a backlog' : `${concurrency} at once`
  return table(
    ['', ...comparisons.map(heading)],
    [
      [`${first?.baseline}, per second`, ...comparisons.map((one) => number(rateOf(one, one.baseline)))],
      ...others.map((name) => [name, ...comparisons.map((comparison) => spread(ratioOf(comparison, name)))]),
    ],
  )
}

/** A row for each fact. `columns`: the name of a value -> its heading. */
function factTable(corner: Cell, columns: Readonly<Record<string, string>>, facts: readonly Fact[] = []): string {
  return table(
    [corner, ...Object.values(columns)],
    facts.map(({ name, values }) => [name, ...Object.keys(columns).map((column) => number(values[column]))]),
  )
}

function throughput({ comparisons = [] }: Section): readonly string[] {
  const ofFetch = ['client.fetch', 'client.fetch, with a key', 'ky', 'p-retry + fetch']
  const there = ofFetch.filter((name) => comparisons[0]?.measured.some((measured) => measured.name === name))
  return [ratios(comparisons), ratios(comparisons, 'fetch', there)]
}

/** A row for each contender, a column for each concurrency. The baseline has its calls per second, the others a ratio. */
function ratios(
  comparisons: readonly Comparison[],
  baseline = comparisons[0]?.baseline ?? '',
  names: readonly string[] = comparisons[0]?.measured.map(({ name }) => name) ?? [],
): string {
  const others = names.filter((name) => name !== baseline)
  return table(
    ['', ...comparisons.map(({ concurrency }) => `${concurrency} at once`)],
    [
      [`${baseline}, per second`, ...comparisons.map((comparison) => number(rateOf(comparison, baseline)))],
      ...others.map((name) => [name, ...comparisons.map((comparison) => spread(ratioOf(comparison, name, baseline)))]),
    ],
  )
}

/** A row for each contender, a column for each kind of call. */
function cpu({ comparisons = [] }: Section): readonly string[] {
  const names = [...new Set(comparisons.flatMap(({ measured }) => measured.map(({ name }) => name)))]
  const cell = ({ measured }: Comparison, name: string): Cell => {
    const found = measured.find((candidate) => candidate.name === name)
    return found ? spread(spreadOf(found.cpuMicros), 0) : ''
  }
  const header = ['µs per call', ...comparisons.map(({ title }) => title)]
  return [
    table(
      header,
      names.map((name) => [name, ...comparisons.map((comparison) => cell(comparison, name))]),
    ),
  ]
}

function protectedHandlers(comparisons: readonly Comparison[]): string {
  const ratio = (comparison: Comparison, name: string): Cell =>
    comparison.measured.some((measured) => measured.name === name) ? spread(ratioOf(comparison, name)) : ''
  return table(
    ['', 'at once', 'protected', 'atomic', 'bare, per second'],
    comparisons.map((comparison) => [
      comparison.title,
      number(comparison.concurrency),
      ratio(comparison, 'protected'),
      ratio(comparison, 'atomic'),
      number(rateOf(comparison, 'bare')),
    ]),
  )
}

function originOf(section: Section): string {
  const { rounds, roundMs } = section.terms
  const how = section.comparisons ? `; ${rounds} rounds of ${roundMs / 1000} s, median (min-max)` : ''
  const origin = `Measured on ${section.measuredOn}, ${section.machine}, Node ${section.node.slice(1)}${how}.`
  const quick = section.quick ? ['**A quick run: placeholders, not measurements.**'] : []
  const noisy = noisyComparisons(section).length > 0 ? ['**The machine was noisy.**'] : []
  return [origin, ...quick, ...noisy].join(' ')
}

function rateOf(comparison: Comparison, name: string): number {
  return spreadOf(measuredOf(comparison, name).rates).median
}

function spread({ median, min, max }: Spread, digits = 2): Cell {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`
}

/** Three digits, or the whole number where it has more. */
function number(value: number | undefined): Cell {
  if (value === undefined) return ''
  return value.toLocaleString(
    'en-US',
    Math.abs(value) < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 },
  )
}

function table(header: Row, rows: readonly Row[]): string {
  const lines = [header, header.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

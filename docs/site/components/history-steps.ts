/*
 * The lines of a traced history, read as steps: when, where, what. Each process has a lane of its own, and its later lives are
 * in the same one: A1 dies, A2 goes on.
 */

export interface Step {
  readonly at: number
  readonly actor: string
  readonly lane: string
  readonly what: string
  readonly tone: string
}

/** What has become of an operation. */
export interface OperationSoFar {
  readonly label: string
  requests: number
  done: number
  readonly results: string[]
}

const LINE = /^\s*([\d.]+) s {2}(machine \d+|\S+)\s+(.*)$/

const BAD =
  /dies|is killed|loses its power|power is cut|was not done|was not synced|gets a failure|refuses|stops, and|blinks|Error|throws|freezes|offline|jumps|BROKEN/

/** Tone -> what such a step says. The first that fits counts. */
const TONES: readonly (readonly [tone: string, pattern: RegExp])[] = [
  ['bad', BAD],
  ['done', /^does |gets the result of \S+: response|operation\.settled succeeded/],
  ['sent', /^sends|^answers|gets the end of/],
  ['quiet', /^emits|^starts|has taken|is over|exits/],
]

/** The reaper of a ledger comes by every minute, and says so. */
const NOISE = /reaper\.passed/

/** From left to right, behind the processes that call. */
const LANES = ['Z', 'disk', 'browser', 'network', 'S', 'server', 'world']

export function stepsOf(lines: readonly string[]): Step[] {
  return lines.flatMap((line) => {
    const [, at = '', actor = '', what = ''] = LINE.exec(line) ?? []
    if (at === '' || NOISE.test(what)) return []
    return [{ at: Number(at), actor, lane: laneOf(actor), what, tone: toneOf(what) }]
  })
}

export function lanesOf(steps: readonly Step[]): string[] {
  const lanes = [...new Set(steps.map(({ lane }) => lane))]
  return lanes.sort((one, other) => rank(one) - rank(other) || one.localeCompare(other))
}

export function laneName(lane: string): string {
  if (lane === 'S') return 'server process'
  return lane.length === 1 ? `process ${lane}` : lane
}

export function operationsOf(steps: readonly Step[]): OperationSoFar[] {
  const operations = new Map<string, OperationSoFar>()
  for (const { what, lane } of steps) {
    const label = /\b(op\d+)\b/.exec(what)?.[1]
    if (!label) continue
    const known = operations.get(label) ?? { label, requests: 0, done: 0, results: [] }
    operations.set(label, known)
    if (what.startsWith('sends ')) known.requests++
    else if (lane === 'server' && what.startsWith('does ')) known.done++
    else if (what.startsWith('gets the result of ')) known.results.push(what.slice(what.indexOf(': ') + 2))
  }
  return [...operations.values()].sort((one, other) => one.label.localeCompare(other.label))
}

function laneOf(actor: string): string {
  if (/^[A-Z]\d+$/.test(actor)) return actor.slice(0, 1)
  return actor.startsWith('machine') ? 'world' : actor
}

function toneOf(what: string): string {
  return TONES.find(([, pattern]) => pattern.test(what))?.[0] ?? 'plain'
}

function rank(lane: string): number {
  return 1 + LANES.indexOf(lane)
}

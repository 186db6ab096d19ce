/*
 * The lines of a traced history, read as steps: when, where, what. Each process has a lane of its own, and its later lives are
 * in the same one: A1 dies, A2 goes on.
 */

const LINE = /^\s*([\d.]+) s {2}(machine \d+|\S+)\s+(.*)$/

/** Tone -> what such a step says. The first that fits counts. */
const TONES = [
  [
    'bad',
    /dies|is killed|loses its power|power is cut|was not done|was not synced|gets a failure|refuses|stops, and|blinks|Error|throws|freezes|offline|jumps|BROKEN/,
  ],
  ['done', /^does |gets the result of \S+: response|operation\.settled succeeded/],
  ['sent', /^sends|^answers|gets the end of/],
  ['quiet', /^emits|^starts|has taken|is over|exits/],
]

/** The reaper of a ledger comes by every minute, and says so. */
const NOISE = /reaper\.passed/

export function stepsOf(lines) {
  return lines.flatMap((line) => {
    const [, at, actor, what] = LINE.exec(line) ?? []
    if (at === undefined || NOISE.test(what)) return []
    return [{ at: Number(at), actor, lane: laneOf(actor), what, tone: toneOf(what) }]
  })
}

export function lanesOf(steps) {
  const lanes = [...new Set(steps.map(({ lane }) => lane))]
  return lanes.sort((one, other) => rank(one) - rank(other) || one.localeCompare(other))
}

export function laneName(lane) {
  if (lane === 'S') return 'server process'
  return lane.length === 1 ? `process ${lane}` : lane
}

/** Operation -> what has become of it after these steps. */
export function operationsOf(steps) {
  const operations = new Map()
  for (const { what, lane } of steps) {
    const [, label] = /\b(op\d+)\b/.exec(what) ?? []
    if (!label) continue
    const known = operations.get(label) ?? { label, requests: 0, done: 0, results: [] }
    operations.set(label, known)
    if (what.startsWith('sends ')) known.requests++
    else if (lane === 'server' && what.startsWith('does ')) known.done++
    else if (what.startsWith('gets the result of ')) known.results.push(what.slice(what.indexOf(': ') + 2))
  }
  return [...operations.values()].sort((one, other) => one.label.localeCompare(other.label))
}

function laneOf(actor) {
  if (/^[A-Z]\d+$/.test(actor)) return actor[0]
  return actor.startsWith('machine') ? 'world' : actor
}

function toneOf(what) {
  return TONES.find(([, pattern]) => pattern.test(what))?.[0] ?? 'plain'
}

function rank(lane) {
  if (/^[A-R]$/.test(lane)) return 0
  return 1 + ['Z', 'disk', 'browser', 'network', 'S', 'server', 'world'].indexOf(lane)
}

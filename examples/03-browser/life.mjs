// From the events of one order to its life: stretches of time for the picture, steps for the words.

const FAULTS = {
  network: 'no answer',
  interrupted: 'cut off',
  aborted: 'cut off',
  'attempt-timeout': 'too slow',
}

const WAITS = {
  attempts: 'before the next attempt',
  status: 'before the next attempt',
  network: 'before the next attempt',
  offline: 'until this tab is online again',
  budget: 'for the retry budget',
  breaker: 'for the breaker',
  deadline: 'for its next turn',
}

/** `found` is what the client's journal says of it, where that was asked. */
export function lifeOf(key, events, found) {
  const life = new Life(key, found)
  for (const event of events) life.add(event)
  life.compare()
  return life
}

class Life {
  key
  order
  product
  startedAt
  endedAt
  status = 'pending'
  replayed = false
  attempts = 0
  tabs = []
  /** { is: 'attempt' | 'wait' | 'gap' | 'mark', from, to?, label, tone, outcome?, words? } */
  stretches = []
  /** { at, words } */
  steps = []
  #found

  constructor(key, found) {
    this.key = key
    this.#found = found
    this.order = found?.metadata?.order
    this.product = found?.metadata?.product
    this.startedAt = found?.acceptedAt
  }

  get isOpen() {
    return this.status === 'pending'
  }

  get current() {
    const last = this.stretches.at(-1)
    return last && last.to === undefined ? last : undefined
  }

  add(event) {
    this.startedAt = Math.min(this.startedAt ?? event.at, event.at)
    if (!this.isOpen) return
    if (event.tab && this.tabs.at(-1) !== event.tab && event.type !== 'tab.left') this.tabs.push(event.tab)
    ACTS[event.type]?.(this, event)
  }

  /** The journal is right: its word counts where the events say less, because a tab died before it could tell. */
  compare() {
    const found = this.#found
    if (!found) return
    this.attempts = Math.max(this.attempts, found.attempts)
    if (this.isOpen && found.status !== 'pending') this.end(found.status, undefined)
  }

  step(at, words) {
    this.steps.push({ at, words })
  }

  open(stretch) {
    this.close(stretch.from)
    this.stretches.push(stretch)
  }

  /** Ends what was going on. An attempt whose end nobody saw was cut off. */
  close(at) {
    const { current } = this
    if (!current) return
    current.to = at
    if (current.is !== 'attempt') return
    Object.assign(current, { label: `${current.number} ✕`, outcome: 'cut off', tone: 'bad' })
    this.step(at, `attempt ${current.number} was cut off, its fate unknown`)
  }

  end(status, at) {
    this.status = status
    this.endedAt = at ?? this.stretches.at(-1)?.to
    if (this.current) this.close(at)
    this.step(at, `settled: ${status}${this.replayed ? ' (the server had taken it before, and said so)' : ''}`)
  }
}

/** What each event does to a life. */
const ACTS = {
  'order.placed'(life, { order, product, at, tab }) {
    Object.assign(life, { order, product })
    life.step(at, `ordered in ${tab}`)
  },
  'operation.accepted'(life, { at, durability, tab }) {
    life.step(at, durability === 'memory' ? `accepted in ${tab}, in memory only` : `accepted: on this browser's disk`)
  },
  'attempt.started'(life, { at, attempt, tab }) {
    life.open({ is: 'attempt', number: attempt, from: at, label: `${attempt} …`, tone: 'open', tab })
    life.attempts = Math.max(life.attempts, attempt)
  },
  'attempt.ended'(life, { attempt, at }) {
    const { number, status, fault, startedAt } = attempt
    const outcome = status ?? FAULTS[fault] ?? fault
    const isGood = status >= 200 && status < 300
    const stretch = life.stretches.findLast((one) => one.is === 'attempt' && one.number === number)
    const ended = { to: at, label: `${number} ${isGood ? '✓' : '✕'}`, outcome, tone: isGood ? 'good' : 'bad' }
    if (stretch) Object.assign(stretch, ended)
    life.step(at, `attempt ${number}${tabOf(stretch)}: ${outcome} after ${seconds(at - startedAt)}`)
  },
  'operation.waiting'(life, { at, until, reason, offline }) {
    const words = WAITS[offline ? 'offline' : reason] ?? `(${reason})`
    const known = offline ? undefined : until
    life.open({ is: 'wait', from: at, until: known, label: '', tone: 'wait', words })
    life.step(at, `waits ${words}${known === undefined ? '' : `, ${seconds(known - at)}`}`)
  },
  'operation.resumed'(life, { at, tab }) {
    life.close(at)
    life.step(at, `taken up again by ${tab}`)
    life.stretches.push({ is: 'mark', from: at, to: at, label: `↻ ${tab}`, tone: 'mark' })
  },
  'tab.left'(life, { at, tab }) {
    if (life.current?.is === 'attempt' && life.current.tab !== tab) return
    life.step(at, `${tab} was left or reloaded`)
    life.open({ is: 'gap', from: at, label: '', tone: 'gap', words: 'until somebody takes it up' })
  },
  'lease.lost'(life, { at, tab }) {
    life.step(at, `${tab} lets go: another tab has it`)
  },
  'operation.settled'(life, { at, status, replayed, attempts }) {
    life.replayed = replayed
    life.attempts = Math.max(life.attempts, attempts)
    life.end(status, at)
  },
}

function tabOf(stretch) {
  return stretch?.tab ? ` by ${stretch.tab}` : ''
}

export function seconds(ms) {
  return `${(Math.max(ms, 0) / 1000).toFixed(ms < 9_950 ? 1 : 0)} s`
}

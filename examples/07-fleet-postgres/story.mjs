// What the demo has seen, told line by line, with what each worker does below it in a terminal, and at the end as a table.
const isTerminal = process.stdout.isTTY === true
const paint = (code) => (text) => (isTerminal && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text)
const [dim, red, green, yellow, bold] = [2, 31, 32, 33, 1].map(paint)

export class Story {
  #workers = new Map()
  #orders = new Map()
  #orderOf = new Map()
  #applied = []
  #isLive = isTerminal
  #board = 0
  #settle
  allSettled = new Promise((resolve) => {
    this.#settle = resolve
  })

  constructor(orders) {
    for (let order = 1; order <= orders; order++) this.#orders.set(order, { order })
  }

  say(text = '') {
    if (this.#board > 0) process.stdout.write(`\x1b[${this.#board}A\x1b[J`)
    console.log(text && `  ${text}`)
    this.#draw()
  }

  worker(name, pid) {
    this.#workers.set(name, { name, pid, takenOver: 0 })
    this.say(`worker ${name}: process ${pid}`)
  }

  hand(order, name) {
    this.#orders.get(order).at = name
  }

  /** Resolves when a worker has told that it is in the journal. */
  accepted(order) {
    return new Promise((resolve) => {
      this.#orders.get(order).onAccepted = resolve
    })
  }

  /** The server took an order, and keeps its key. */
  applied(order) {
    this.#applied.push(order)
  }

  /** What a worker told. */
  heard(name, { key, order, accepted, saw, resumed, status, replayed }) {
    if (order !== undefined) this.#orderOf.set(key, order)
    const known = this.#orders.get(this.#orderOf.get(key))
    if (!known) return
    if (accepted) this.#accepted(name, known)
    if (resumed) this.#resumed(name, known)
    if (saw && saw !== 201) this.#line(name, known, yellow(saw))
    if (status) this.#settled(name, known, { status, replayed })
  }

  #accepted(name, known) {
    Object.assign(known, { by: name, at: name })
    this.#line(name, known, dim('accepted: it is in the journal'))
    known.onAccepted?.()
  }

  #resumed(name, known) {
    if (known.at === name || known.status) return this.#line(name, known, dim('taken up again'))
    this.#workers.get(name).takenOver++
    this.#line(name, known, bold(`taken over from worker ${known.at}`))
    known.at = name
  }

  #settled(name, known, { status, replayed }) {
    const isNew = known.status === undefined
    Object.assign(known, { status, settledBy: name })
    if (isNew) this.#line(name, known, green(replayed ? `${status}: the server had done it, and says so` : status))
    if ([...this.#orders.values()].every((order) => order.status)) this.#settle()
  }

  /** Gives the orders that it was handed and had not accepted. */
  killed(name) {
    const worker = this.#workers.get(name)
    worker.isDead = true
    this.say()
    const underWay = this.#openAt(name).filter(({ by }) => by)
    const death = `worker ${name} dies with ${underWay.length} orders under way`
    this.say(red(bold(`kill -9 ${worker.pid}`)) + red(`  ${death}`))
    this.say(dim('on the same host the others notice within 10 s, elsewhere when its lease of 30 s has lapsed'))
    this.say()
    return this.#openAt(name).flatMap(({ order, by }) => (by ? [] : [order]))
  }

  #openAt(name) {
    return [...this.#orders.values()].filter(({ at, status }) => at === name && !status)
  }

  #line(name, { order }, text) {
    this.say(`worker ${name}  order ${String(order).padStart(2)}  ${text}`)
  }

  /** In a terminal alone: a line for each worker, drawn anew below whatever is said. */
  #draw() {
    this.#board = 0
    if (!this.#isLive) return
    const lines = [...this.#workers.values()].map((worker) => {
      const open = this.#openAt(worker.name).map(({ order }) => order)
      const state = worker.isDead ? red('dead') : green('alive')
      return `  ${bold(`worker ${worker.name}`)}  ${state}  ${open.length > 0 ? `orders ${open.join(', ')}` : dim('idle')}`
    })
    this.#board = lines.length
    if (lines.length > 0) console.log(lines.join('\n'))
  }

  table() {
    this.#isLive = false
    this.say()
    this.say(bold('worker      pid  accepted  taken over  finished'))
    for (const { name, pid, takenOver, isDead } of this.#workers.values()) {
      const count = (of) => [...this.#orders.values()].filter((order) => order[of] === name).length
      const cells = [
        [name, 6],
        [pid, 7],
        [count('by'), 8],
        [takenOver, 10],
        [count('settledBy'), 8],
      ]
      const row = cells.map(([cell, width]) => String(cell).padStart(width)).join('  ')
      this.say(isDead ? `${row}  ${red('killed')}` : row)
    }
    this.say()
  }

  /** True where every order was accepted and taken exactly once. */
  verdict() {
    const accepted = [...this.#orders.values()].filter(({ by }) => by)
    const times = ({ order }) => this.#applied.filter((one) => one === order).length
    const [once, twice, lost] = [(n) => n === 1, (n) => n > 1, (n) => n === 0].map(
      (fits) => accepted.filter((order) => fits(times(order))).length,
    )
    const isRight = accepted.length === this.#orders.size && once === accepted.length
    const words = `${accepted.length} accepted, ${once} applied once, ${twice} twice, ${lost} lost`
    this.say((isRight ? green : red)(bold(words)))
    return isRight
  }
}

// What the demo has seen, told line by line and as a table. Colours only for a terminal that wants them.
const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR
const paint = (code) => (text) => (isColoured ? `\x1b[${code}m${text}\x1b[0m` : text)
const [dim, red, green, yellow, bold] = [2, 31, 32, 33, 1].map(paint)
const COLOURS = { paid: green, replayed: green, killed: red }

export class Story {
  #orders = new Map()
  #orderOf = new Map()
  #charged = []
  #early = new Map()

  say(text = '') {
    console.log(text && `  ${text}`)
  }

  /** What the server did with a request. */
  server({ key, did, charged }) {
    if (charged !== undefined) this.#charged.push(charged)
    this.#add(key, did)
  }

  /** What the shop said. */
  shop({ order, key, accepted, status, attempts, resumed }) {
    if (order !== undefined) this.#know(order, key)
    if (accepted) this.#orders.get(order).accepted = true
    if (status) Object.assign(this.#orders.get(order), { status, attempts })
    if (resumed) this.#line(key, dim('taken up again'))
  }

  killed(pid) {
    const open = [...this.#orders.values()].filter(({ status }) => !status)
    for (const { key } of open) this.#add(key, 'killed')
    this.say()
    this.say(red(bold(`kill -9 ${pid}`)) + red(`  the shop dies with ${open.length} charges under way`))
    this.say()
  }

  get settled() {
    return [...this.#orders.values()].filter(({ status }) => status).length
  }

  #know(order, key) {
    if (this.#orders.has(order)) return
    this.#orders.set(order, { order, key, events: this.#early.get(key) ?? [] })
    this.#orderOf.set(key, order)
    for (const did of this.#early.get(key) ?? []) this.#line(key, (COLOURS[did] ?? yellow)(did))
  }

  #add(key, did) {
    const known = this.#orders.get(this.#orderOf.get(key))
    if (!known) return this.#early.set(key, [...(this.#early.get(key) ?? []), did])
    known.events.push(did)
    if (did !== 'killed') this.#line(key, (COLOURS[did] ?? yellow)(did))
  }

  #line(key, text) {
    this.say(`order ${String(this.#orderOf.get(key) ?? '?').padStart(2)}  ${dim(key.slice(0, 8))}  ${text}`)
  }

  table() {
    this.say()
    this.say(bold('order  key       attempts  charged  what happened'))
    for (const { order, key, attempts, events } of [...this.#orders.values()].sort((a, b) => a.order - b.order)) {
      const story = events.map((did) => (COLOURS[did] ?? yellow)(did)).join(dim(', '))
      const cells = [String(order).padStart(5), key.slice(0, 8), String(attempts).padStart(8)]
      this.say(`${cells.join('  ')}  ${`${this.#times(order)} x`.padStart(7)}  ${story}`)
    }
    this.say()
  }

  #times(order) {
    return this.#charged.filter((one) => one === order).length
  }

  /** True where every charge that was accepted was made exactly once. */
  verdict() {
    const accepted = [...this.#orders.values()].filter((one) => one.accepted)
    const [once, twice, lost] = [(n) => n === 1, (n) => n > 1, (n) => n === 0].map(
      (fits) => accepted.filter(({ order }) => fits(this.#times(order))).length,
    )
    const isRight = accepted.length === 20 && once === 20
    const words = `${accepted.length} accepted, ${once} applied once, ${twice} twice, ${lost} lost`
    this.say((isRight ? green : red)(bold(words)))
    return isRight
  }
}

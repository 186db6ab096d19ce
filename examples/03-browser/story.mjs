// What all tabs have seen of all orders, event by event, so that a time line outlives a reload and shows in every tab.

/** Found in localStorage by this. One entry per event: two tabs that write at once lose nothing. */
const PREFIX = 'story/'

export class Story {
  #tab
  #count = 0
  #lives = new Map()
  #listener = () => {}

  /** `tab` names who tells. */
  constructor(tab) {
    this.#tab = tab
    for (const name of Object.keys(localStorage)) this.#read(name, localStorage.getItem(name))
    addEventListener('storage', ({ key: name, newValue }) => this.#read(name, newValue))
  }

  /** Called with the key of an order of which something new is known. */
  onChange(listener) {
    this.#listener = listener
  }

  /** The keys of all orders. */
  get keys() {
    return [...this.#lives.keys()]
  }

  /** The events of one order, oldest first. */
  of(key) {
    return this.#lives.get(key) ?? []
  }

  /** Adds an event; `key` is its order's. */
  tell(key, event) {
    const told = { ...event, tab: this.#tab, number: this.#count++ }
    const name = `${PREFIX}${key}/${this.#tab}/${performance.timeOrigin}/${told.number}`
    try {
      localStorage.setItem(name, JSON.stringify(told))
    } catch {
      // Full: the time line stays in this tab. The order itself is in the client's own journal.
    }
    this.#add(key, told)
  }

  #read(name, value) {
    if (!name?.startsWith(PREFIX) || !value) return
    this.#add(name.split('/')[1], JSON.parse(value))
  }

  #add(key, event) {
    const life = this.#lives.get(key) ?? []
    life.push(event)
    // Storage keeps no order, and much happens within a millisecond.
    life.sort((a, b) => a.at - b.at || a.number - b.number)
    this.#lives.set(key, life)
    this.#listener(key)
  }
}

/** Tab A, tab B ...: kept over a reload. A tab that was duplicated has its original's name until its next visit. */
export function nameThisTab() {
  const known = sessionStorage.getItem('tab')
  if (known) return known
  const number = Number(localStorage.getItem('tabs') ?? 0)
  localStorage.setItem('tabs', String(number + 1))
  const name = `tab ${letters(number)}`
  sessionStorage.setItem('tab', name)
  return name
}

function letters(number) {
  const last = String.fromCharCode(65 + (number % 26))
  return number < 26 ? last : letters(Math.floor(number / 26) - 1) + last
}

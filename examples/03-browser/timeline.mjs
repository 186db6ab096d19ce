// Draws the life of one order: a heading, a time line, a sentence, and the steps in words.
import { seconds } from './life.mjs'

/** With more attempts than this, the picture shows only their numbers. */
const ROOMY = 4

const STATES = {
  new: ['…', 'writing down'],
  sending: ['→', 'sending'],
  waiting: ['◷', 'waiting'],
  left: ['◌', 'pending'],
  succeeded: ['✓', 'done'],
  rejected: ['✕', 'refused'],
  failed: ['✕', 'failed'],
  expired: ['✕', 'too late'],
  cancelled: ['–', 'cancelled'],
}

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

export function stateOf(life) {
  if (!life.isOpen) return life.status
  const { current } = life
  if (!current) return life.stretches.length > 0 ? 'sending' : 'new'
  return { attempt: 'sending', wait: 'waiting', gap: 'left' }[current.is]
}

/** One order's place in the list; it stays, and with it the focus and what is unfolded. */
export class Card {
  node = element('li', { class: 'order' })
  #title = element('h3')
  #badge = element('p', { class: 'badge' })
  #track = element('div', { class: 'track', role: 'img' })
  #line = element('p', { class: 'line' })
  #steps = element('ol', { class: 'steps' })

  constructor() {
    const details = element('details', {}, element('summary', {}, 'Step by step'), this.#steps)
    this.node.append(
      element('div', { class: 'order-head' }, this.#title, this.#badge),
      this.#track,
      this.#line,
      details,
    )
  }

  draw(life, now) {
    const state = stateOf(life)
    const [sign, word] = STATES[state]
    Object.assign(this.node.dataset, { key: life.key, order: life.order, state, attempts: life.attempts })
    this.#title.replaceChildren(life.product ?? 'An order', ' ', element('span', { class: 'code' }, life.order ?? ''))
    this.#badge.replaceChildren(element('span', { 'aria-hidden': 'true' }, sign), ` ${word}`)
    const isRoomy = life.attempts <= ROOMY
    this.#track.classList.toggle('many', !isRoomy)
    this.#track.replaceChildren(...life.stretches.map((stretch) => drawn(stretch, { now, isRoomy })))
    this.#track.setAttribute('aria-label', life.stretches.map(inWords).join(', ') || 'nothing sent yet')
    this.#line.textContent = sentence(life, now)
    // Left alone while nothing is new, so that it can be selected.
    if (this.#steps.children.length !== life.steps.length) this.#steps.replaceChildren(...life.steps.map(written(life)))
  }
}

function written({ startedAt }) {
  return ({ at, words }) => {
    const time = element('span', { class: 'time' }, at === undefined ? '' : `+${seconds(at - startedAt)}`)
    return element('li', {}, time, ' ', words)
  }
}

/** The width grows with the square root of the time, so that short attempts are seen beside long waits. */
function drawn({ is, from, to, label, tone, outcome = '' }, { now, isRoomy }) {
  const node = element('span', { class: `stretch ${is} ${tone}` }, isRoomy ? `${label} ${outcome}` : label)
  if (is !== 'mark') node.style.flexGrow = String(Math.max(1, Math.sqrt(Math.max(0, (to ?? now) - from))))
  return node
}

function inWords({ is, number, label, words, outcome = 'under way' }) {
  if (is === 'attempt') return `attempt ${number}: ${outcome}`
  return is === 'mark' ? `taken up again: ${label.slice(2)}` : is === 'wait' ? 'wait' : `nobody there ${words}`
}

function sentence(life, now) {
  const attempts = life.attempts === 1 ? '1 attempt' : `${life.attempts} attempts`
  const lasted = life.endedAt ?? (life.isOpen ? now : undefined)
  const parts = [attempts]
  if (lasted !== undefined && life.startedAt !== undefined) parts.push(seconds(lasted - life.startedAt))
  if (life.tabs.length > 0) parts.push(life.tabs.join(', then '))
  const { current } = life
  if (current?.is === 'wait') parts.push(`waits ${current.words}${remaining(current.until - now)}`)
  if (current?.is === 'gap') parts.push(`pending ${current.words}`)
  if (life.replayed) parts.push('the server had it already: not taken twice')
  return parts.join(' · ')
}

function remaining(ms) {
  return ms > 0 && ms < 600_000 ? `, ${seconds(ms)}` : ''
}

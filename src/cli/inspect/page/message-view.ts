import type { ShownBody, ShownMessage } from '../wire.ts'
import { type Child, h } from './dom.ts'
import { bytes } from './format.ts'

export interface MessageTerms {
  readonly title: string
  /** The first line: method and URL, or the status. */
  readonly line: string
  readonly part: 'request' | 'answer'
  /** Undefined until it was asked for. */
  readonly body: ShownBody | undefined
}

/** A request or an answer, folded. Its body is loaded when a reader asks for it. */
export function messageView(message: ShownMessage, { title, line, part, body }: MessageTerms): HTMLElement {
  const rows = [
    ...message.headers.map(([name, value]) => [name, value] as const),
    ...message.withheld.map((name) => [name.replace(/^\?/, 'query: '), 'sent, never stored'] as const),
  ]
  return h(
    'details',
    { class: 'message', 'data-key': part },
    h('summary', {}, h('span', { class: 'message-title' }, title), h('span', { class: 'muted' }, line)),
    rows.length > 0 &&
      h('dl', { class: 'headers' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
    ...bodyView(message, part, body),
  )
}

function bodyView({ bodyBytes, bodyOmitted }: ShownMessage, part: string, body: ShownBody | undefined): Child[] {
  if (bodyOmitted) return [h('p', { class: 'muted' }, 'Its body was not stored.')]
  if (bodyBytes === 0) return [h('p', { class: 'muted' }, 'No body.')]
  if (!body) {
    const label = `Show the body (${bytes(bodyBytes)})`
    return [h('button', { type: 'button', 'data-action': 'show-body', 'data-part': part }, label)]
  }
  return [
    h('pre', { class: 'body', tabindex: '0', role: 'region', 'aria-label': `Body of the ${part}` }, body.text),
    body.cut && h('p', { class: 'muted' }, 'Only its beginning is shown.'),
  ]
}

/** Facts that are known; others are left out. */
export function factsView(facts: readonly (readonly [label: string, value: Child])[]): HTMLElement {
  const known = facts.filter(([, value]) => value !== undefined && value !== false)
  return h(
    'dl',
    { class: 'facts' },
    ...known.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  )
}

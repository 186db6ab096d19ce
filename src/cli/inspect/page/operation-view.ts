import type { OperationDetail, ShownBody } from '../wire.ts'
import { attemptsView } from './attempts-view.ts'
import { h } from './dom.ts'
import { ago, moment, until } from './format.ts'
import { factsView, messageView } from './message-view.ts'
import { linkTo, type Route } from './route.ts'
import { reasonText, stateText, summary } from './words.ts'

export interface DetailTerms {
  readonly route: Route
  readonly now: number
  readonly readOnly: boolean
  readonly bodyOf: (part: 'request' | 'answer') => ShownBody | undefined
}

/** One operation: what became of it, what can be done, its attempts, request and answer. */
export function operationView(operation: OperationDetail, { route, now, readOnly, bodyOf }: DetailTerms): HTMLElement {
  const { method, url, status, reason, request, answer, metadata } = operation
  const why = reasonText(reason)
  const { host, pathname } = new URL(url)
  return h(
    'section',
    { class: 'detail', 'aria-labelledby': 'detail-title', 'data-key': operation.key },
    h(
      'div',
      { class: 'detail-head' },
      h('h2', { id: 'detail-title', tabindex: '-1' }, `${method} ${pathname}`),
      h('a', { class: 'close', href: linkTo(route, { open: undefined }) }, 'Close'),
    ),
    h('p', { class: 'muted' }, host),
    h(
      'p',
      { class: 'outcome' },
      h('span', { class: `state ${status}`, 'data-in-flight': operation.inFlight }, stateText(operation)),
      ` ${summary(operation)}`,
    ),
    why !== undefined && h('p', { class: 'muted' }, `Reason: ${why}.`),
    !readOnly && (operation.canRetry || operation.canCancel) && actionsView(operation),
    attemptsView(operation, now),
    h('h3', {}, 'Record'),
    factsOf(operation, now),
    h('h3', {}, 'Messages'),
    messageView(request, { title: 'Request', line: `${method} ${pathname}`, part: 'request', body: bodyOf('request') }),
    answer &&
      messageView(answer, { title: 'Answer', line: String(answer.status), part: 'answer', body: bodyOf('answer') }),
    metadata !== undefined &&
      h(
        'details',
        { class: 'message', 'data-key': 'metadata' },
        h('summary', {}, h('span', { class: 'message-title' }, 'Metadata')),
        h('pre', { class: 'body', tabindex: '0', role: 'region', 'aria-label': 'Metadata' }, metadata),
      ),
  )
}

function actionsView({ canRetry, canCancel, status }: OperationDetail): HTMLElement {
  const cancel = status === 'pending' ? 'Cancel…' : 'Free its lane…'
  return h(
    'p',
    { class: 'actions' },
    canRetry && h('button', { type: 'button', 'data-action': 'retry' }, 'Retry…'),
    canCancel && h('button', { type: 'button', class: 'danger', 'data-action': 'cancel' }, cancel),
  )
}

function factsOf(operation: OperationDetail, now: number): HTMLElement {
  const { key, id, name, lane, nextAttemptAt, settledAt, keptUntil, leaseUntil, runnerDeaths, lastError } = operation
  const isPending = operation.status === 'pending'
  const past = (at: number | undefined) => at !== undefined && timeView(at, ago(at, now))
  const ahead = (at: number | undefined) => at !== undefined && timeView(at, until(at, now))
  return factsView([
    ['Key', h('code', { class: 'key' }, key)],
    ['Id', id],
    ['Name', name],
    ['Lane', lane && `${lane}${operation.holdsLane ? ' (holds it)' : ''}`],
    ['Accepted', past(operation.acceptedAt)],
    ['Next attempt', ahead(nextAttemptAt)],
    ['Attempted until', isPending && ahead(operation.horizonAt)],
    ['Settled', past(settledAt)],
    ['Kept until', ahead(keptUntil)],
    ['Lease until', isPending && ahead(leaseUntil)],
    ['Runners that died', runnerDeaths > 0 && runnerDeaths],
    ['Last error', lastError],
    ['Repeated', operation.mayHaveRepeated && 'An earlier attempt may have been done as well.'],
    ['Keys', !operation.honoursKeys && 'Its server does not honour them.'],
  ])
}

/** The distance, and the moment itself for a pointer and for search. */
export function timeView(at: number, text: string): HTMLElement {
  return h('time', { datetime: new Date(at).toISOString(), title: moment(at) }, text)
}

import { call, type ParityCase, play } from '../support/parity-case.ts'
import { REQUESTS, type Scene } from '../support/scene.ts'
import { errorSight, nextChunk, outcome, outcomeInTime } from '../support/sight.ts'

const REASONS: Readonly<Record<string, unknown>> = {
  none: undefined,
  'an Error': new Error('mine'),
  'a string': 'mine',
  'an object': { mine: true },
  'a TypeError': new TypeError('mine'),
  'a DOMException': new DOMException('mine', 'DataError'),
  zero: 0,
}

const ABORTED = { error: { name: 'AbortError' } }

/** What a call rejects with, and whether it is the very reason of the signal. */
async function rejection(promise: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return outcomeInTime(() =>
    promise.then(
      () => 'resolved',
      (error) => ({ isReason: error === signal.reason, error: errorSight(error) }),
    ),
  )
}

function beforeCall([name, reason]: [string, unknown]): ParityCase {
  return play(
    `aborted before the call, reason ${name}`,
    { rejected: { isReason: true }, requests: [] },
    async (scene) => {
      const { fetch } = scene
      const signal = AbortSignal.abort(reason)
      return { rejected: await rejection(fetch(scene.url(), { signal }), signal), requests: REQUESTS }
    },
  )
}

/** Browsers give a clone of the reason to somebody who is not in the same realm; here it is the reason itself. */
function beforeHead([name, reason]: [string, unknown]): ParityCase {
  return play(
    `aborted before the head, reason ${name}`,
    { rejected: { isReason: true }, closed: 'closed' },
    async (scene) => {
      const { fetch } = scene
      const abort = new AbortController()
      const rejected = rejection(fetch(scene.url({ before: ['hang'] }), { signal: abort.signal }), abort.signal)
      await scene.until('head')
      abort.abort(reason)
      return { rejected: await rejected, closed: await scene.until('closed'), requests: REQUESTS }
    },
  )
}

function duringBody([name, reason]: [string, unknown]): ParityCase {
  return play(`aborted during the body, reason ${name}`, { first: 'one', closed: 'closed' }, async (scene) => {
    const { abort, response } = await started(scene)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = await nextChunk(reader)
    const next = rejection(reader.read(), abort.signal)
    abort.abort(reason)
    return { first, next: await next, closed: await scene.until('closed') }
  })
}

async function started(scene: Scene, init: RequestInit = {}): Promise<{ abort: AbortController; response: Response }> {
  const { fetch } = scene
  const abort = new AbortController()
  const response = await fetch(scene.url({ steps: [{ send: 'one' }, 'hang'] }), { ...init, signal: abort.signal })
  return { abort, response }
}

export const signals: readonly ParityCase[] = [
  ...Object.entries(REASONS).flatMap((reason) => [beforeCall(reason), beforeHead(reason), duringBody(reason)]),
  play('aborted at once after the call', { rejected: { isReason: true } }, async (scene) => {
    const { fetch } = scene
    const abort = new AbortController()
    const promise = fetch(scene.url(), { signal: abort.signal })
    abort.abort()
    return { rejected: await rejection(promise, abort.signal) }
  }),
  play('aborted after a POST was sent', { rejected: { isReason: true }, closed: 'closed' }, async (scene) => {
    const { fetch } = scene
    const abort = new AbortController()
    const init = { method: 'POST', body: 'x', signal: abort.signal }
    const rejected = rejection(fetch(scene.url({ before: ['hang'] }), init), abort.signal)
    await scene.until('end')
    abort.abort()
    return { rejected: await rejected, closed: await scene.until('closed'), requests: REQUESTS }
  }),
  play('aborted while text() of a POST waits', { text: { error: { name: 'AbortError' } } }, async (scene) => {
    const { abort, response } = await started(scene, { method: 'POST', body: 'x' })
    const text = rejection(response.text(), abort.signal)
    abort.abort()
    return { text: await text, closed: await scene.until('closed') }
  }),
  play('aborted after the whole answer', { text: 'hello' }, async (scene) => {
    const { fetch } = scene
    const abort = new AbortController()
    const response = await fetch(scene.url(), { signal: abort.signal })
    const copy = response.clone()
    const text = await response.text()
    abort.abort()
    return { text, again: await rejection(copy.text(), abort.signal) }
  }),
  play('aborted with the answer unread', { text: { error: { name: 'AbortError' } } }, async (scene) => {
    const { abort, response } = await started(scene)
    abort.abort()
    return { text: await rejection(response.text(), abort.signal), used: response.bodyUsed }
  }),
  play('aborted with a clone of the answer', { texts: [ABORTED, ABORTED] }, async (scene) => {
    const { abort, response } = await started(scene)
    const texts = [response, response.clone()].map((each) => rejection(each.text(), abort.signal))
    abort.abort()
    return { texts: await Promise.all(texts) }
  }),
  play(
    'a timeout before the head',
    { rejected: { isReason: true, error: { name: 'TimeoutError' } } },
    async (scene) => {
      const { fetch } = scene
      const signal = AbortSignal.timeout(60)
      return { rejected: await rejection(fetch(scene.url({ before: ['hang'] }), { signal }), signal) }
    },
  ),
  play('a timeout during the body', { error: { class: 'DOMException' } }, async (scene) => {
    const { fetch } = scene
    const response = await fetch(scene.url({ steps: [{ send: 'one' }, 'hang'] }), { signal: AbortSignal.timeout(100) })
    return outcomeInTime(() => response.text())
  }),
  play('any of two signals', { rejected: { isReason: true } }, async (scene) => {
    const { fetch } = scene
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, new AbortController().signal])
    const rejected = rejection(fetch(scene.url({ before: ['hang'] }), { signal }), signal)
    await scene.until('head')
    abort.abort(new Error('first'))
    return { rejected: await rejected }
  }),
  play('the signal of a Request', { rejected: { isReason: true } }, async (scene) => {
    const { fetch } = scene
    const abort = new AbortController()
    const request = new Request(scene.url({ before: ['hang'] }), { signal: abort.signal })
    const rejected = rejection(fetch(request), abort.signal)
    await scene.until('head')
    abort.abort()
    return { rejected: await rejected, closed: await scene.until('closed') }
  }),
  call('signal: null over the aborted one of a Request', { answer: { status: 200 } }, (scene) => [
    new Request(scene.url(), { signal: AbortSignal.abort() }),
    { signal: null },
  ]),
  call('an aborted signal over that of a Request', { error: { name: 'AbortError' }, requests: [] }, (scene) => [
    new Request(scene.url()),
    { signal: AbortSignal.abort() },
  ]),
  ...[{}, 'text', { aborted: false }, 5].map((signal) =>
    call(`signal ${JSON.stringify(signal)} is refused`, { error: { class: 'TypeError' }, requests: [] }, (scene) => [
      scene.url(),
      { signal: signal as never },
    ]),
  ),
  play('one signal for many calls', { rejected: [{ isReason: true }, { isReason: true }] }, async (scene) => {
    const { fetch } = scene
    const abort = new AbortController()
    const init = { signal: abort.signal }
    const rejected = [1, 2].map(() => rejection(fetch(scene.url({ before: ['hang'] }), init), abort.signal))
    await scene.until('head')
    abort.abort()
    return { rejected: await Promise.all(rejected) }
  }),
  play('listeners of the caller run before the rejection', { order: ['listener', 'rejected'] }, async (scene) => {
    const { fetch } = scene
    const abort = new AbortController()
    const order: string[] = []
    const promise = outcome(() => fetch(scene.url({ before: ['hang'] }), { signal: abort.signal }))
    abort.signal.addEventListener('abort', () => order.push('listener'))
    await scene.until('head')
    abort.abort()
    await promise
    return { order: [...order, 'rejected'] }
  }),
]

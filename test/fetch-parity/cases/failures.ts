import { call, type ParityCase, play } from '../support/parity-case.ts'
import { outcome } from '../support/sight.ts'

const FAILED = { error: { class: 'TypeError', name: 'TypeError', message: 'fetch failed' } }

export const failures: readonly ParityCase[] = [
  ...['GET', 'POST'].flatMap((method) => [
    call(`refused connection, ${method}`, FAILED, ({ places }) => [places.refused, { method }]),
    call(`unknown host, ${method}`, FAILED, () => ['http://nowhere.invalid/', { method }]),
  ]),
  ...['GET', 'PUT', 'DELETE', 'HEAD'].map((method) =>
    call({ name: `reset before the head, ${method}`, difference: 'sentAgain' }, FAILED, (scene) => [
      scene.url({ before: ['cut'] }),
      { method },
    ]),
  ),
  ...['POST', 'PATCH'].map((method) =>
    call({ name: `reset before the head, ${method}`, difference: 'sentAgainWithKey' }, FAILED, (scene) => [
      scene.url({ before: ['cut'] }),
      { method, body: 'x' },
    ]),
  ),
  call({ name: 'end of the connection before the head', difference: 'sentAgain' }, FAILED, (scene) => [
    scene.url({ before: [{ raw: 'HTTP/1.1 200 Fi' }, 'cut'] }),
  ]),
  call({ name: 'a head that is too large', difference: 'sentAgain' }, FAILED, (scene) => [
    scene.url({ before: [{ raw: 'HTTP/1.1 200 Fine\r\nx: ' }, { fill: 1_000_000 }] }),
  ]),
  call('TLS to a server without', FAILED, ({ places }) => [places.home.replace('http:', 'https:')]),
  play(
    { name: 'what a failure says', difference: { node: 'cause', browser: 'unknownCause' } },
    { name: 'TypeError' },
    async ({ fetch, places }) => {
      const error = (await fetch(places.refused, { method: 'POST' }).catch((reason) => reason)) as Error
      return { name: error.name, message: error.message, cause: (error.cause as Error | undefined)?.name ?? null }
    },
  ),
  play('a failure is exactly a TypeError', { exact: true, isError: true }, async ({ fetch, places }) => {
    const error = (await fetch(places.refused).catch((reason) => reason)) as Error
    return {
      exact: Object.getPrototypeOf(error) === TypeError.prototype,
      isError: error instanceof Error,
      text: String(error).replace('Failed to fetch', 'fetch failed'),
      tag: Object.prototype.toString.call(error),
      keys: Object.keys(error),
    }
  }),
  play('fetch never throws', { kinds: ['promise', 'promise', 'promise'] }, async (scene) => {
    const { fetch } = scene
    const kinds = [[], [null], ['http://['], [scene.url(), 5]].slice(1).map((args) => {
      try {
        const promise = (fetch as (...args: unknown[]) => Promise<unknown>)(...args)
        promise.catch(() => {})
        return Object.getPrototypeOf(promise) === Promise.prototype ? 'promise' : 'other'
      } catch {
        return 'thrown'
      }
    })
    return { kinds, last: await outcome(() => 'done') }
  }),
]

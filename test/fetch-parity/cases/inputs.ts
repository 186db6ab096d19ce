import { call, callSight, type ParityCase, play } from '../support/parity-case.ts'
import { REQUESTS } from '../support/scene.ts'
import { outcomeInTime } from '../support/sight.ts'

const INVALID = [
  'http://',
  'http://[',
  'http://a b/',
  '//',
  'http://user:password@127.0.0.1/',
  'http://127.0.0.1:99999/',
]

const BLOCKED_PORTS = [1, 6000]

const POST = { method: 'POST', body: 'kept', headers: { 'x-own': '1' } } as const

/** What stands behind the name of the thing, and must come to the server. */
const TAILS: Readonly<Record<string, string>> = {
  '?a=1&b=2 3': '?a=1&b=2%203',
  '?a=\'"<>`': '?a=%27%22%3C%3E`',
  '/\u00e9/\u65e5': '/%C3%A9/%E6%97%A5',
  '/%41/%zz%2F': '/%41/%zz%2F',
  '/a/../b/./c': '/b/c',
  '/a//b': '/a//b',
  '/a\\b': '/a/b',
  '/{}|^`"': '/%7B%7D|^%60%22',
  '/a\tb\nc': '/abc',
  '?': '?',
  '#': '',
  '#part': '',
  '?#': '?',
}

export const inputs: readonly ParityCase[] = [
  ...Object.keys(TAILS).map((tail) =>
    call(`URL ending in ${JSON.stringify(tail)}`, { answer: { status: 200 } }, (scene) => [scene.url() + tail]),
  ),
  ...INVALID.map((url) => call(`URL ${url} is refused`, { error: { class: 'TypeError' }, requests: [] }, () => [url])),
  ...BLOCKED_PORTS.map((port) =>
    call({ name: `blocked port ${port}` }, { error: { class: 'TypeError' } }, () => [`http://127.0.0.1:${port}/`]),
  ),
  call('URL as URL', { answer: { status: 200 } }, (scene) => [new URL(scene.url())]),
  call('URL as an object with toString', { answer: { status: 200 } }, (scene) => [
    { toString: () => scene.url() } as never,
  ]),
  call('URL with white space around', { answer: { status: 200 } }, (scene) => [` \n${scene.url()}\t `]),
  call('URL in capitals', { answer: { status: 200 } }, (scene) => [scene.url().replace('http', 'HTTP')]),
  play('URL that is changed after the call', { requests: [{ method: 'GET' }] }, async (scene) => {
    const { fetch } = scene
    const url = new URL(scene.url())
    const promise = fetch(url)
    url.pathname = '/late'
    return { url: (await promise).url, requests: REQUESTS }
  }),
  call('a symbol as URL', { error: { class: 'TypeError' } }, () => [Symbol('url') as never]),
  play('no arguments', { outcome: { error: { class: 'TypeError' } } }, async (scene) => {
    const fetch = scene.fetch as () => Promise<Response>
    return { outcome: await outcomeInTime(() => fetch()) }
  }),
  call(
    'Request',
    { requests: [{ method: 'POST', body: 'kept', headers: { 'x-own': '1' } }], atOnce: { bodyUsed: true } },
    (scene) => [new Request(scene.url(), POST)],
  ),
  call('Request without a body', { answer: { status: 200 }, after: { bodyUsed: false } }, (scene) => [
    new Request(scene.url()),
  ]),
  call('Request with an empty body', { after: { bodyUsed: true } }, (scene) => [
    new Request(scene.url(), { method: 'POST', body: '' }),
  ]),
  ...Object.entries({
    nothing: {},
    'another method': { method: 'PUT' },
    'a safe method': { method: 'GET' },
    'body: null': { body: null },
    'body: undefined': { body: undefined as never },
    'another body': { body: 'other' },
    'headers that replace its own': { headers: { 'x-other': '2' } },
    'headers: undefined': { headers: undefined as never },
    'no headers at all': { headers: {} },
    'signal: null': { signal: null },
    'another redirect': { redirect: 'error' as const },
    'bogus redirect': { redirect: 'bogus' as never },
  }).map(([name, init]) =>
    call(`Request, and init with ${name}`, {}, (scene) => [new Request(scene.url(), POST), init]),
  ),
  ...(['credentials', 'cache', 'referrerPolicy', 'keepalive', 'redirect'] as const).map((member) =>
    call(`Request with ${member}`, {}, (scene) => {
      const values = { credentials: 'omit', cache: 'no-store', referrerPolicy: 'origin' }
      const value = { ...values, keepalive: true, redirect: 'manual' }[member]
      return [new Request(scene.url({ status: 302, headers: [['location', '/elsewhere']] }), { [member]: value })]
    }),
  ),
  call(
    { name: 'Request with a wrong hash', difference: { browser: 'sentAgain' } },
    { error: { class: 'TypeError' } },
    (scene) => [new Request(scene.url(), { integrity: 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' })],
  ),
  call('Request as init', {}, (scene) => [
    scene.url(),
    new Request(scene.url(undefined, 'other'), { ...POST, duplex: 'half' } as RequestInit),
  ]),
  call('Request that was used', { error: { class: 'TypeError' }, requests: [] }, async (scene) => {
    const request = new Request(scene.url(), POST)
    await request.text()
    return [request]
  }),
  call('Request that was used, with another body', { requests: [{ body: 'fresh' }] }, async (scene) => {
    const request = new Request(scene.url(), POST)
    await request.text()
    return [request, { body: 'fresh' }]
  }),
  call('Request whose body is locked', { error: { class: 'TypeError' }, requests: [] }, (scene) => {
    const request = new Request(scene.url(), POST)
    request.body?.getReader()
    return [request]
  }),
  call('Request of a subclass', { requests: [{ method: 'POST' }] }, (scene) => {
    class Own extends Request {}
    return [new Own(scene.url(), POST)]
  }),
  play('Request twice', { second: { error: { class: 'TypeError' } } }, async (scene) => {
    const request = new Request(scene.url(), POST)
    return { first: await callSight(scene, [request]), second: await callSight(scene, [request]) }
  }),
  play('Request, and its clone', { second: { answer: { status: 200 } } }, async (scene) => {
    const request = new Request(scene.url(), POST)
    const clone = request.clone()
    return { first: await callSight(scene, [request]), second: await callSight(scene, [clone]) }
  }),
  play(
    'headers that are changed after the call',
    { requests: [{ headers: { a: '1' } }, { headers: { a: '1' } }] },
    async (scene) => {
      const { fetch } = scene
      const headers = new Headers({ a: '1' })
      const first = fetch(scene.url(), { headers })
      headers.set('a', '2')
      await (await first).text()
      const request = new Request(scene.url(), { headers: { a: '1' } })
      const second = fetch(request)
      request.headers.set('a', '2')
      await (await second).text()
      return { requests: REQUESTS }
    },
  ),
]

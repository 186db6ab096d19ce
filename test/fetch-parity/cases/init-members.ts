import { call, type FetchArguments, type ParityCase } from '../support/parity-case.ts'

const HELLO_HASH = 'sha256-LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ='

/** Members of `init` with every value that they have, and one that they have not. */
const MEMBERS: Readonly<Record<string, readonly unknown[]>> = {
  mode: ['cors', 'same-origin', 'navigate', 'websocket', 'bogus', null],
  credentials: ['omit', 'same-origin', 'include', 'bogus'],
  cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached', 'bogus'],
  redirect: ['follow', 'error', 'manual', 'bogus', ''],
  referrer: ['', 'about:client', '/from/here', 'http://elsewhere.example/', 'http://['],
  referrerPolicy: ['', 'no-referrer', 'origin', 'unsafe-url', 'strict-origin-when-cross-origin', 'bogus'],
  keepalive: [true, false, 'yes'],
  window: [null, undefined, 'bogus'],
  priority: ['high', 'low', 'auto', 'bogus'],
  duplex: ['half', 'bogus'],
  integrity: ['', HELLO_HASH, `sha256-wrong ${HELLO_HASH}`, 'unknown-hash'],
  signal: [null, undefined],
  unknownMember: ['kept'],
}

/** Those of the values above that are refused. */
const REFUSED = /^(mode (navigate|websocket|bogus|null)|\w+ bogus|redirect |referrer http:\/\/\[|cache only-if-cached)$/

function memberCase(name: string, value: unknown): ParityCase {
  const title = `${name} ${value}`
  // Some of the members are unknown to some of the platforms.
  const isRefused = REFUSED.test(title) && !/^(priority|window|duplex|cache only)/.test(title)
  const shows = isRefused ? { error: { class: 'TypeError' }, requests: [] } : {}
  return call(`init: ${title}`, shows, (scene) => [scene.url(), { [name]: value }])
}

function wrongIntegrity(method: string, integrity: string): ParityCase {
  return call(
    {
      name: `init: a wrong hash, ${method}`,
      difference: { browser: method === 'GET' ? 'sentAgain' : 'sentAgainWithKey' },
    },
    { error: { class: 'TypeError' }, requests: [{ method }] },
    (scene) => [scene.url(), { method, integrity }],
  )
}

/** An `init` that is more than a plain object. */
const SHAPES: Readonly<Record<string, () => unknown>> = {
  'with inherited members': () => Object.create({ method: 'PUT', body: 'inherited' }),
  'of a class with getters': () =>
    new (class {
      get method(): string {
        return 'PUT'
      }
      get body(): string {
        return 'got'
      }
    })(),
  'that is a function': () => Object.assign(() => {}, { method: 'PUT', body: 'function' }),
  'that is a proxy': () => new Proxy({ method: 'PUT', body: 'proxy' }, {}),
  'that is frozen': () => Object.freeze({ method: 'PUT', body: 'frozen', headers: Object.freeze({ 'x-one': '1' }) }),
}

const REFUSED_INITS: readonly unknown[] = [5, 'text', true, Symbol.iterator]

export const initMembers: readonly ParityCase[] = [
  ...Object.entries(MEMBERS).flatMap(([name, values]) => values.map((value) => memberCase(name, value))),
  wrongIntegrity('GET', 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='),
  wrongIntegrity('POST', 'sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='),
  ...Object.entries(SHAPES).map(([name, make]) =>
    call(`init ${name}`, { requests: [{ method: 'PUT' }] }, (scene) => [scene.url(), make() as RequestInit]),
  ),
  call('init null', { answer: { status: 200 } }, (scene) => [scene.url(), null as never]),
  call('init undefined', { answer: { status: 200 } }, (scene) => [scene.url(), undefined]),
  call('init empty', { answer: { status: 200 } }, (scene) => [scene.url(), {}]),
  ...REFUSED_INITS.map((init) =>
    call(`init ${String(init)} is refused`, { error: { class: 'TypeError' }, requests: [] }, (scene) => [
      scene.url(),
      init as never,
    ]),
  ),
  call('init with a getter that throws', { error: { class: 'RangeError' }, requests: [] }, (scene) => [
    scene.url(),
    {
      get method(): string {
        throw new RangeError('mine')
      },
    },
  ]),
  call('init of one call, used again', { requests: [{ body: 'x' }, { body: 'x' }] }, async (scene) => {
    const { fetch } = scene
    const args: FetchArguments = [scene.url(), { method: 'PUT', body: 'x', headers: { a: '1' } }]
    await (await fetch(...args)).text()
    return args
  }),
]

import { call, type ParityCase } from '../support/parity-case.ts'

const browser = (name: string): { name: string; where: 'browser' } => ({ name, where: 'browser' })

const MODES: readonly RequestMode[] = ['cors', 'no-cors', 'same-origin']
const CREDENTIALS: readonly RequestCredentials[] = ['omit', 'same-origin', 'include']
const REFERRERS: readonly ReferrerPolicy[] = ['no-referrer', 'origin', 'unsafe-url', 'same-origin', 'strict-origin']

/** What needs a page: an origin to be of, cookies, a cache. */
export const browserOnly: readonly ParityCase[] = [
  ...MODES.map((mode) => call(browser(`mode ${mode} at home`), {}, (scene) => [scene.url(), { mode }])),
  ...MODES.map((mode) => call(browser(`mode ${mode} elsewhere`), {}, (scene) => [scene.awayUrl(), { mode }])),
  call(browser('mode no-cors with POST'), { answer: { type: 'opaque', status: 0 } }, (scene) => [
    scene.awayUrl(),
    { mode: 'no-cors', method: 'POST', body: 'x' },
  ]),
  ...CREDENTIALS.flatMap((credentials) => [
    call(browser(`credentials ${credentials} at home`), {}, (scene) => [scene.url(), { credentials }]),
    call(browser(`credentials ${credentials} elsewhere`), {}, (scene) => [scene.awayUrl(), { credentials }]),
  ]),
  ...REFERRERS.flatMap((referrerPolicy) => [
    call(browser(`referrerPolicy ${referrerPolicy} at home`), {}, (scene) => [scene.url(), { referrerPolicy }]),
    call(browser(`referrerPolicy ${referrerPolicy} elsewhere`), {}, (scene) => [scene.awayUrl(), { referrerPolicy }]),
  ]),
  call(browser('referrer within the origin'), {}, (scene) => [scene.url(), { referrer: '/from/here' }]),
  call(browser('relative URL'), { answer: { status: 200 } }, (scene) => [`/${scene.ticket}/thing`]),
  call(browser('relative URL as a Request'), { answer: { status: 200 } }, (scene) => [
    new Request(`/${scene.ticket}/thing`, { method: 'POST', body: 'x' }),
  ]),
  call(browser('URL without a scheme'), { answer: { status: 200 } }, (scene) => [scene.url().replace('http:', '')]),
  call({ ...browser('stream up'), difference: 'storedFirst' }, { error: { class: 'TypeError' } }, (scene) => [
    scene.url(),
    { method: 'POST', duplex: 'half', body: new Blob(['needs HTTP/2']).stream() },
  ]),
  call(browser('keepalive'), { answer: { status: 200 } }, (scene) => [
    scene.url(),
    { method: 'POST', body: 'x', keepalive: true },
  ]),
  call(browser('keepalive with too much'), { error: { class: 'TypeError' } }, (scene) => [
    scene.url(),
    { method: 'POST', body: 'x'.repeat(70_000), keepalive: true },
  ]),
  call(browser('redirect: manual shows nothing'), { answer: { type: 'opaqueredirect', status: 0 } }, (scene) => [
    scene.url({ status: 302, headers: [['location', '/elsewhere']] }),
    { redirect: 'manual' },
  ]),
  call(browser('headers elsewhere are hidden'), { answer: { type: 'cors' } }, (scene) => [
    scene.awayUrl({
      headers: [
        ['x-hidden', '1'],
        ['x-shown', '2'],
        ['access-control-expose-headers', 'x-shown'],
      ],
    }),
  ]),
  call(browser('cache: force-cache after an answer that can be kept'), { answer: { status: 200 } }, async (scene) => {
    const { fetch } = scene
    const url = scene.url({ headers: [['cache-control', 'max-age=60']], body: 'kept' })
    await (await fetch(url)).text()
    return [url, { cache: 'force-cache' }]
  }),
  call(browser('cache: only-if-cached'), {}, (scene) => [
    scene.url(),
    { cache: 'only-if-cached', mode: 'same-origin' },
  ]),
]

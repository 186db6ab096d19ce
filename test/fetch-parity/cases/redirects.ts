import { SELF } from '../support/answer.ts'
import { call, type ParityCase } from '../support/parity-case.ts'
import type { Scene } from '../support/scene.ts'

const STATUSES = [301, 302, 303, 307, 308]
const METHODS = ['GET', 'POST', 'PUT']

const CREDENTIALS = { authorization: 'Bearer x', 'x-own': '1' }

function to(location: string, status = 302): { status: number; headers: [string, string][]; body: string } {
  return { status, headers: [['location', location]], body: 'moved' }
}

function target(scene: Scene): string {
  return scene.url({ body: 'there' }, 'target')
}

/** As many redirects as this, one after the other. */
function chain(scene: Scene, length: number): string {
  let url = target(scene)
  for (let index = 0; index < length; index++)
    url = scene.url(to(url.replace(scene.places.home, ''), 307), `step-${index}`)
  return url
}

const REFUSED: Readonly<Record<string, string>> = {
  'data:': 'data:,x',
  'blob:': 'blob:nowhere',
  'file:': 'file:///',
  'an unknown scheme': 'unknown:thing',
  'an invalid URL': 'http://[',
  'a blocked port': 'http://127.0.0.1:1/',
}

/** Only Node says that fetch refused it, so that it is not tried again. */
const REFUSED_BY_FETCH = { browser: 'sentAgain' } as const

const WITH_CREDENTIALS = 'http://user:password@'

export const redirects: readonly ParityCase[] = [
  ...STATUSES.flatMap((status) =>
    METHODS.map((method) =>
      call(`${status} of a ${method}`, { answer: { redirected: true, body: 'there' } }, (scene) => [
        scene.url(to(target(scene), status)),
        { method, ...(method !== 'GET' && { body: 'kept', headers: { 'content-type': 'a/b', 'x-own': '1' } }) },
      ]),
    ),
  ),
  ...STATUSES.map((status) =>
    call(
      { name: `${status} of a POST to another origin`, difference: { node: 'stranger', browser: 'followedStranger' } },
      { answer: { redirected: true } },
      (scene) => [scene.url(to(scene.awayUrl({ body: 'there' }), status)), { method: 'POST', body: 'kept' }],
    ),
  ),
  ...(['manual', 'error'] as const).flatMap((redirect) =>
    ['GET', 'POST'].map((method) =>
      call(
        redirect === 'manual'
          ? `redirect: manual, ${method}`
          : {
              name: `redirect: error, ${method}`,
              difference: { browser: method === 'GET' ? 'sentAgain' : 'sentAgainWithKey' },
            },
        {},
        (scene) => [scene.url(to(target(scene))), { method, redirect }],
      ),
    ),
  ),
  call('redirect to another origin', { answer: { redirected: true, body: 'there' } }, (scene) => [
    scene.url(to(scene.awayUrl({ body: 'there' }))),
    { headers: CREDENTIALS },
  ]),
  call(
    'redirect within the origin keeps the credentials',
    { requests: [{ headers: CREDENTIALS }, { headers: CREDENTIALS }] },
    (scene) => [scene.url(to(target(scene))), { headers: CREDENTIALS }],
  ),
  call('redirect from another origin and back', {}, (scene) => [
    scene.awayUrl(to(target(scene))),
    { headers: CREDENTIALS },
  ]),
  call('redirect to a path', { answer: { redirected: true } }, (scene) => [scene.url(to(`/${scene.ticket}/target`))]),
  call('redirect to a sibling', { answer: { redirected: true } }, (scene) => [scene.url(to('sibling'))]),
  call('redirect to another query', { answer: { redirected: true } }, (scene) => [scene.url(to('?other'))]),
  call('redirect beyond ASCII', { answer: { redirected: true } }, (scene) => [scene.url(to('caf\xc3\xa9'))]),
  call('redirect that passes the fragment on', { answer: { redirected: true } }, (scene) => [
    `${scene.url(to(target(scene)))}#part`,
  ]),
  call('redirect with a fragment of its own', { answer: { redirected: true } }, (scene) => [
    `${scene.url(to(`${target(scene)}#own`))}#part`,
  ]),
  call('redirect without an address', { answer: { status: 302, redirected: false } }, (scene) => [
    scene.url({ status: 302, body: 'x' }),
  ]),
  call('redirect with an empty address', {}, (scene) => [scene.url(to(''))]),
  call('five redirects', { answer: { body: 'there', redirected: true } }, (scene) => [chain(scene, 5)]),
  call({ name: 'redirects without end', where: 'node' }, { error: { class: 'TypeError' } }, (scene) => [
    scene.url(to(SELF)),
  ]),
  ...Object.entries(REFUSED).map(([name, location]) =>
    call({ name: `redirect to ${name}`, difference: REFUSED_BY_FETCH }, { error: { class: 'TypeError' } }, (scene) => [
      scene.url(to(location)),
    ]),
  ),
  call({ name: 'redirect to credentials in the URL', difference: REFUSED_BY_FETCH }, {}, (scene) => [
    scene.url(to(target(scene).replace('http://', WITH_CREDENTIALS))),
  ]),
  call('redirect of a Request', { answer: { redirected: true }, atOnce: { bodyUsed: true } }, (scene) => [
    new Request(scene.url(to(target(scene), 307)), { method: 'POST', body: 'kept' }),
  ]),
  call(
    { name: 'redirect of a stream', where: 'node', difference: 'storedFirst' },
    { error: { class: 'TypeError' } },
    (scene) => [
      scene.url(to(target(scene), 307)),
      { method: 'POST', duplex: 'half', body: new Blob(['kept']).stream() },
    ],
  ),
  call('redirect to a refusal', { answer: { status: 403, redirected: true } }, (scene) => [
    scene.url(to(scene.url({ status: 403, body: 'no' }))),
  ]),
  call(
    { name: 'redirect to where nothing listens', difference: 'sentAgain' },
    { error: { class: 'TypeError' } },
    (scene) => [scene.url(to(scene.places.refused))],
  ),
]

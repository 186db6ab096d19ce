import { call, type ParityCase } from '../support/parity-case.ts'

const SENT = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'HEAD',
  'PROPFIND',
  'CHICKEN',
  'patch',
  'chicken',
  'a!b',
]
const UPPER_CASED = ['get', 'Post', 'pUT', 'delete', 'head', 'options']
const REFUSED = ['CONNECT', 'TRACE', 'track', 'A B', '', 'é', 'a\nb']

export const methods: readonly ParityCase[] = [
  ...SENT.map((method) =>
    call(`method ${method}`, { requests: [{ method }], answer: { status: 200 } }, (scene) => [scene.url(), { method }]),
  ),
  ...UPPER_CASED.map((method) =>
    call(`method ${method}`, { requests: [{ method: method.toUpperCase() }] }, (scene) => [scene.url(), { method }]),
  ),
  ...REFUSED.map((method) =>
    call(`method ${JSON.stringify(method)} is refused`, { error: { class: 'TypeError' }, requests: [] }, (scene) => [
      scene.url(),
      { method },
    ]),
  ),
  call('method undefined', { requests: [{ method: 'GET' }] }, (scene) => [scene.url(), { method: undefined as never }]),
  call('method null is a name', { requests: [{ method: 'null' }] }, (scene) => [
    scene.url(),
    { method: null as never },
  ]),
  call('method as an object', { requests: [{ method: 'PUT' }] }, (scene) => [
    scene.url(),
    { method: { toString: () => 'put' } as never },
  ]),
  call('method as a symbol', { error: { class: 'TypeError' } }, (scene) => [
    scene.url(),
    { method: Symbol('put') as never },
  ]),
  ...['GET', 'HEAD', 'get'].map((method) =>
    call(`${method} with a body`, { error: { class: 'TypeError' }, requests: [] }, (scene) => [
      scene.url(),
      { method, body: 'x' },
    ]),
  ),
  call('DELETE with a body', { requests: [{ method: 'DELETE', body: 'gone' }] }, (scene) => [
    scene.url(),
    { method: 'DELETE', body: 'gone' },
  ]),
  call('PUT without a body says its length', { requests: [{ headers: { 'content-length': '0' } }] }, (scene) => [
    scene.url(),
    { method: 'PUT' },
  ]),
]

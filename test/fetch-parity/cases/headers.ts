import { call, type ParityCase, play } from '../support/parity-case.ts'
import type { Scene } from '../support/scene.ts'

function* pairs(): Generator<string[]> {
  yield ['x-one', '1']
  yield ['x-two', '2']
}

class OwnHeaders {
  'x-own' = '1';
  *[Symbol.iterator](): Generator<string[]> {
    yield ['x-iterated', '2']
  }
}

/** What is given as headers, and what the server must have got of it. */
const TAKEN: readonly (readonly [string, () => unknown, Record<string, string>])[] = [
  ['an object', () => ({ 'X-One': '1', 'x-two': '2' }), { 'x-one': '1', 'x-two': '2' }],
  ['an array of pairs', () => [...pairs()], { 'x-one': '1', 'x-two': '2' }],
  ['Headers', () => new Headers({ 'x-one': '1' }), { 'x-one': '1' }],
  ['a Map', () => new Map([['x-one', '1']]), { 'x-one': '1' }],
  ['a generator', () => pairs(), { 'x-one': '1', 'x-two': '2' }],
  ['an object that iterates', () => new OwnHeaders(), { 'x-iterated': '2' }],
  ['an object without a prototype', () => Object.assign(Object.create(null), { 'x-one': '1' }), { 'x-one': '1' }],
  ['pairs twice the same', () => [...pairs(), ['X-One', '3']], { 'x-one': '1, 3' }],
  ['names twice in another case', () => ({ 'x-one': '1', 'X-ONE': '2' }), { 'x-one': '1, 2' }],
  ['a value with white space around', () => ({ 'x-one': ' \t1 2\t\n' }), { 'x-one': '1 2' }],
  ['an empty value', () => ({ 'x-one': '' }), { 'x-one': '' }],
  [
    'a number, null and undefined as values',
    () => ({ a: 5, b: null, c: undefined }),
    { a: '5', b: 'null', c: 'undefined' },
  ],
  ['a value in Latin-1', () => ({ 'x-one': 'caf\xe9' }), { 'x-one': 'caf\xe9' }],
  ['Accept of its own', () => ({ accept: 'text/x' }), { accept: 'text/x' }],
  ['a content type without a body', () => ({ 'content-type': 'text/x' }), { 'content-type': 'text/x' }],
  ['credentials', () => ({ authorization: 'Bearer x' }), { authorization: 'Bearer x' }],
  ['undefined', () => undefined, {}],
]

const REFUSED: readonly (readonly [string, unknown])[] = [
  ['a name with a space', { 'x one': '1' }],
  ['an empty name', { '': '1' }],
  ['a name beyond ASCII', { 'x-é': '1' }],
  ['a value with a line feed', { 'x-one': '1\n2' }],
  ['a value with a NUL', { 'x-one': '1\0' }],
  ['a value beyond Latin-1', { 'x-one': '\u20ac' }],
  ['a pair of three', [['x-one', '1', '2']]],
  ['a pair of one', [['x-one']]],
  ['a flat array', ['x-one']],
  ['a string', 'x-one: 1'],
  ['a number', 5],
  ['null', null],
  ['a symbol as value', { 'x-one': Symbol('1') }],
]

/** Names that a caller may not set; each platform has its own way with them. */
const FORBIDDEN: Record<string, string> = {
  Host: 'elsewhere.example',
  'Content-Length': '5',
  Cookie: 'a=1',
  Origin: 'http://elsewhere.example',
  Referer: 'http://elsewhere.example/',
  'Accept-Encoding': 'identity',
  'User-Agent': 'mine',
  TE: 'trailers',
  'Sec-Fetch-Mode': 'navigate',
  'X-HTTP-Method-Override': 'TRACE',
}

export const headers: readonly ParityCase[] = [
  ...TAKEN.map(([name, make, got]) =>
    call(`headers: ${name}`, { requests: [{ headers: got }] }, (scene) => [
      scene.url(),
      { headers: make() as HeadersInit },
    ]),
  ),
  ...REFUSED.map(([name, given]) =>
    call(`headers: ${name} is refused`, { error: { class: 'TypeError' }, requests: [] }, (scene) => [
      scene.url(),
      { headers: given as HeadersInit },
    ]),
  ),
  ...Object.entries(FORBIDDEN).map(([name, value]) =>
    call(`headers: ${name} of the caller's own`, {}, (scene) => [scene.url(), { headers: { [name]: value } }]),
  ),
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect'].map((name) =>
    call(`headers: ${name} of the caller's own`, {}, (scene) => [
      scene.url(),
      { method: 'POST', body: 'x', headers: { [name]: name === 'expect' ? '100-continue' : 'chunked' } },
    ]),
  ),
  play('headers: the platform adds its own', { names: { accept: '*/*' } }, async (scene: Scene) => {
    const { fetch } = scene
    await fetch(scene.url())
    const [seen] = await scene.seen()
    return { names: seen?.headers }
  }),
  call('headers: many', { answer: { status: 200 } }, (scene) => [
    scene.url(),
    { headers: Array.from({ length: 100 }, (_, index) => [`x-${index}`, `${index}`] as [string, string]) },
  ]),
]

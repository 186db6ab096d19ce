import { call, type ParityCase, play } from '../support/parity-case.ts'
import { REQUESTS } from '../support/scene.ts'
import { outcome } from '../support/sight.ts'

const BYTES = new Uint8Array([0, 1, 2, 250, 251, 252, 253, 10])

function form(): FormData {
  const data = new FormData()
  data.append('name', 'v\u00e9\r\n"x"')
  data.append('file', new Blob(['content'], { type: 'text/x' }), 'a "b".txt')
  data.append('file', new File([BYTES], 'b.bin'))
  return data
}

function frozen(): unknown {
  return Object.freeze({ toString: () => 'as text' })
}

/** What is given as body; what the server must have got of it; the content type that goes with it. */
const KINDS: readonly (readonly [string, () => unknown, object])[] = [
  [
    'a string',
    () => 'h\u00e9llo \u20ac',
    { body: 'h\xc3\xa9llo \xe2\x82\xac', headers: { 'content-type': 'text/plain;charset=UTF-8' } },
  ],
  ['a string with half a surrogate', () => 'a\ud800b', { body: 'a\xef\xbf\xbdb' }],
  ['an empty string', () => '', { body: '', headers: { 'content-length': '0' } }],
  ['URLSearchParams', () => new URLSearchParams({ a: '1 2', b: '\u00e9' }), { body: 'a=1+2&b=%C3%A9' }],
  ['empty URLSearchParams', () => new URLSearchParams(), { body: '' }],
  ['an ArrayBuffer', () => BYTES.slice().buffer, { headers: { 'content-length': '8' } }],
  ['an empty ArrayBuffer', () => new ArrayBuffer(0), { body: '' }],
  ['a part of a typed array', () => BYTES.subarray(1, 3), { body: '\x01\x02' }],
  ['a wider typed array', () => new Uint16Array([0x4142, 0x4344]), { body: 'BADC' }],
  ['a DataView of a part', () => new DataView(BYTES.buffer, 1, 2), { body: '\x01\x02' }],
  [
    'a Blob with a type',
    () => new Blob(['blob'], { type: 'text/X; a=b' }),
    { body: 'blob', headers: { 'content-type': 'text/x; a=b' } },
  ],
  ['a Blob without a type', () => new Blob(['blob']), { body: 'blob' }],
  ['an empty Blob', () => new Blob([]), { body: '' }],
  ['a File', () => new File(['file'], 'a.txt', { type: 'text/x' }), { body: 'file' }],
  ['null', () => null, { body: '', headers: { 'content-length': '0' } }],
  ['undefined', () => undefined, { body: '', headers: { 'content-length': '0' } }],
  ['a number', () => 5, { body: '5' }],
  ['zero', () => 0, { body: '0' }],
  ['false', () => false, { body: 'false' }],
  ['a date', () => new Date(0), {}],
  ['a plain object', () => ({ a: 1 }), { body: '[object Object]' }],
  ['an object with toString', frozen, { body: 'as text' }],
  ['a String object', () => new String('boxed'), { body: 'boxed' }],
]

export const bodies: readonly ParityCase[] = [
  ...KINDS.map(([name, make, got]) =>
    call(`body: ${name}`, { requests: [{ method: 'POST', ...got }] }, (scene) => [
      scene.url(),
      { method: 'POST', body: make() as BodyInit },
    ]),
  ),
  call(
    'body: a form',
    { requests: [{ headers: { 'content-type': 'multipart/form-data; boundary=----boundary' } }] },
    (scene) => [scene.url(), { method: 'POST', body: form() }],
  ),
  call('body: an empty form', { requests: [{ method: 'PUT' }] }, (scene) => [
    scene.url(),
    { method: 'PUT', body: new FormData() },
  ]),
  call('body: a content type of the caller wins', { requests: [{ headers: { 'content-type': 'a/b' } }] }, (scene) => [
    scene.url(),
    { method: 'POST', body: 'x', headers: { 'Content-Type': 'a/b' } },
  ]),
  call('body: a symbol is refused', { error: { class: 'TypeError' }, requests: [] }, (scene) => [
    scene.url(),
    { method: 'POST', body: Symbol('x') as never },
  ]),
  call('body: a detached buffer', {}, (scene) => {
    const { buffer } = BYTES.slice()
    structuredClone(buffer, { transfer: [buffer] })
    return [scene.url(), { method: 'POST', body: buffer }]
  }),
  call(
    { name: 'body: 5 MB up', where: 'node' },
    { requests: [{ headers: { 'content-length': '5000000' } }] },
    (scene) => [scene.url(), { method: 'PUT', body: new Uint8Array(5_000_000).fill(7) }],
  ),
  call(
    { name: 'body: 12 MB up', where: 'node' },
    { requests: [{ headers: { 'content-length': '12000000' } }] },
    (scene) => [scene.url(), { method: 'POST', body: new Uint8Array(12_000_000).fill(7) }],
  ),
  play('body: changed after the call', { requests: [{ body: '\x01\x01' }, { body: 'a=1' }, {}] }, async (scene) => {
    const { fetch } = scene
    const bytes = new Uint8Array([1, 1])
    const search = new URLSearchParams('a=1')
    const data = new FormData()
    data.append('a', '1')
    for (const [body, change] of [
      [bytes, () => bytes.fill(2)],
      [search, () => search.append('b', '2')],
      [data, () => data.append('b', '2')],
    ] as const) {
      const promise = fetch(scene.url(), { method: 'POST', body })
      change()
      await outcome(async () => (await promise).text())
    }
    return { requests: REQUESTS }
  }),
  play('body: an answer before the body has been read', { status: 413 }, async (scene) => {
    const { fetch } = scene
    const response = await fetch(scene.url({ status: 413, body: 'too much', early: true }), {
      method: 'POST',
      body: 'x',
    })
    return { status: response.status, text: await outcome(() => response.text()) }
  }),
]

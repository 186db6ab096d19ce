import { describe, expect, test } from 'vitest'
import { abortedFault, toFault } from '../../../../src/client/transport/fault.ts'
import { toNodeFault } from '../../../../src/client/transport/node-fault.ts'

const coded = (code: string, more: object = {}): Error => Object.assign(new Error(code), { code, ...more })
const named = (name: string): Error => Object.assign(new Error(name), { name })
type Loose = { call: () => unknown; headers: Iterable<unknown> & { get: unknown }; Agent: new () => unknown }
const loose = {} as Loose
const failed = (cause: unknown): TypeError => new TypeError('fetch failed', { cause })

/** As the engine itself words what a program got wrong. */
function broken(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

type Row = readonly [name: string, error: unknown, code: string, mayHaveArrived: boolean, transient: boolean]

const rows: readonly Row[] = [
  ['a refused connection', coded('ECONNREFUSED'), 'ECONNREFUSED', false, true],
  ['a refused connection inside fetch', failed(coded('ECONNREFUSED')), 'ECONNREFUSED', false, true],
  ['an unknown name', failed(coded('ENOTFOUND', { syscall: 'getaddrinfo' })), 'ENOTFOUND', false, true],
  ['a resolver that is away', coded('EAI_AGAIN'), 'EAI_AGAIN', false, true],
  ['a connect that timed out in undici', coded('UND_ERR_CONNECT_TIMEOUT'), 'UND_ERR_CONNECT_TIMEOUT', false, true],
  ['a connect that timed out in the system', coded('ETIMEDOUT', { syscall: 'connect' }), 'ETIMEDOUT', false, true],
  ['a read that timed out', coded('ETIMEDOUT', { syscall: 'read' }), 'ETIMEDOUT', true, true],
  ['no way to the host, at connect', coded('EHOSTUNREACH', { syscall: 'connect' }), 'EHOSTUNREACH', false, true],
  ['no way to the host, later', coded('EHOSTUNREACH', { syscall: 'write' }), 'EHOSTUNREACH', true, true],
  ['no way to the network, when is not said', coded('ENETUNREACH'), 'ENETUNREACH', true, true],
  ['a reset', failed(coded('ECONNRESET', { syscall: 'read' })), 'ECONNRESET', true, true],
  ['a broken pipe', coded('EPIPE'), 'EPIPE', true, true],
  ['a closed socket', failed(coded('UND_ERR_SOCKET')), 'UND_ERR_SOCKET', true, true],
  ['endless headers', failed(coded('UND_ERR_HEADERS_OVERFLOW')), 'headers-overflow', true, true],
  ['a malformed answer', coded('HPE_INVALID_CONSTANT'), 'HPE_INVALID_CONSTANT', true, true],
  ['a broken coding', coded('Z_DATA_ERROR'), 'Z_DATA_ERROR', true, true],
  [
    'a TLS alert at any time',
    coded('ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC'),
    'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC',
    true,
    true,
  ],
  ['an argument that undici refuses', failed(coded('UND_ERR_INVALID_ARG')), 'UND_ERR_INVALID_ARG', false, false],
  [
    'a body that is not as long as was said',
    failed(coded('UND_ERR_REQ_CONTENT_LENGTH_MISMATCH')),
    'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
    true,
    false,
  ],
  ['a port that fetch refuses', failed(new Error('bad port')), 'refused-by-fetch', false, false],
  ['a redirect that fetch refuses', failed(new Error('unexpected redirect')), 'refused-by-fetch', true, false],
  ['a URL that is none', failed(coded('ERR_INVALID_URL')), 'ERR_INVALID_URL', false, false],
  ['an abort of somebody else', new DOMException('x', 'AbortError'), 'aborted', true, true],
  ['a timeout of somebody else', new DOMException('x', 'TimeoutError'), 'aborted', true, true],
  [
    'an argument of the wrong type',
    Object.assign(new TypeError(), { code: 'ERR_INVALID_ARG_TYPE' }),
    'ERR_INVALID_ARG_TYPE',
    false,
    false,
  ],
  ['a request without a handler in msw', named('InternalError'), 'InternalError', true, false],
  ['a misspelt name in a custom fetch', new ReferenceError('x is not defined'), 'ReferenceError', true, false],
  ['a function that a custom fetch does not have', broken(() => loose.call()), 'TypeError', true, false],
  ['a value that a custom fetch does not have', broken(() => loose.headers.get), 'TypeError', true, false],
  ['a value that is null in a custom fetch', broken(() => JSON.parse('null').headers), 'TypeError', true, false],
  ['a loop over nothing in a custom fetch', broken(() => [...loose.headers]), 'TypeError', true, false],
  ['a class that a custom fetch does not have', broken(() => new loose.Agent()), 'TypeError', true, false],
  [
    'the same in Firefox',
    new TypeError('can\'t access property "get", a.headers is undefined'),
    'TypeError',
    true,
    false,
  ],
  ['the same in Safari', new TypeError("undefined is not an object (evaluating 'a.b.c')"), 'TypeError', true, false],
  ['the network in Chromium', new TypeError('Failed to fetch'), 'network', true, true],
  ['the network in Firefox', new TypeError('NetworkError when attempting to fetch resource.'), 'network', true, true],
  ['the network in Safari', new TypeError('Load failed'), 'network', true, true],
  ['the network in French', new TypeError('Une erreur réseau est survenue'), 'network', true, true],
  ['an error without detail', new Error('the network is down'), 'network', true, true],
  ['something that is no error', 'oops', 'network', true, true],
  ['nothing', undefined, 'network', true, true],
  ['a code of another trade', coded('CARD_DECLINED'), 'network', true, true],
]

describe('toNodeFault', () => {
  test.each(rows)('%s', (...row) => {
    const [, error, code, mayHaveArrived, transient] = row
    expect(toNodeFault(error)).toEqual({ kind: 'fault', code, mayHaveArrived, transient, cause: error })
  })

  test.each([
    ['Chrome', 'Failed to fetch'],
    ['Firefox', 'NetworkError when attempting to fetch resource.'],
    ['Firefox in French', 'Une erreur réseau est survenue'],
    ['Safari', 'Load failed'],
    ['Safari in German', 'Die Internetverbindung scheint offline zu sein.'],
    ['Deno', 'error sending request for url (http://127.0.0.1:1/): client error (Connect): tcp connect error'],
    ['undici', 'fetch failed'],
    ['a fetch that says nothing', ''],
  ])('takes the TypeError of %s for the network, whatever it says', (_, message) => {
    for (const judge of [toFault, toNodeFault]) {
      expect(judge(new TypeError(message))).toMatchObject({ code: 'network', mayHaveArrived: true, transient: true })
    }
  })

  test.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('a certificate that can not be trusted lasts, and says what it is: %s', (code) => {
    const error = failed(coded(code))
    const fault = toNodeFault(error)
    expect(fault).toMatchObject({ code, mayHaveArrived: false, transient: false, lasting: true })
    expect(fault.cause).toMatchObject({ message: "The server's certificate can't be trusted", cause: error })
  })

  test('by its kind alone no error says that nothing arrived', () => {
    const refused = failed(coded('ECONNREFUSED', { syscall: 'connect' }))
    expect(toFault(refused)).toMatchObject({ code: 'network', mayHaveArrived: true, transient: true })
  })

  test('says "did not arrive" of several addresses only when it holds for each', () => {
    const refused = coded('ECONNREFUSED', { syscall: 'connect' })
    const all = failed(new AggregateError([refused, coded('ENETUNREACH', { syscall: 'connect' })]))
    expect(toNodeFault(all)).toMatchObject({ code: 'ECONNREFUSED', mayHaveArrived: false })
    const some = new AggregateError([refused, coded('ECONNRESET', { syscall: 'read' })])
    expect(toNodeFault(some)).toMatchObject({ code: 'ECONNREFUSED', mayHaveArrived: true })
    const unknown = new AggregateError([refused, new Error('?')])
    expect(toNodeFault(unknown)).toMatchObject({ mayHaveArrived: true })
  })

  test('ends on causes that go in a circle, and on bundles in bundles', () => {
    const circle = new Error('a') as Error & { cause: unknown }
    circle.cause = new Error('b', { cause: circle })
    expect(toNodeFault(circle)).toMatchObject({ code: 'network' })
    const bundle = new AggregateError([])
    bundle.errors.push(...Array.from({ length: 1000 }, () => bundle))
    expect(toNodeFault(bundle)).toMatchObject({ code: 'network' })
  })

  test('looks ten causes deep and no deeper', () => {
    const buried = (depth: number): unknown =>
      depth === 0 ? coded('ECONNREFUSED') : new Error('wrapped', { cause: buried(depth - 1) })
    expect(toNodeFault(buried(10)).code).toBe('ECONNREFUSED')
    expect(toNodeFault(buried(11)).code).toBe('network')
  })

  test('takes no harm from an error whose properties throw', () => {
    const hostile = Object.defineProperty({}, 'code', {
      get() {
        throw new Error('boo')
      },
    })
    expect(toNodeFault(hostile)).toMatchObject({ code: 'network', mayHaveArrived: true })
  })
})

test('an abort carries the reason of its signal', () => {
  expect(abortedFault(AbortSignal.abort('stop'), { mayHaveArrived: true })).toEqual({
    kind: 'fault',
    code: 'aborted',
    mayHaveArrived: true,
    transient: true,
    cause: 'stop',
  })
})

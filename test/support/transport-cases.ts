import type { RequestListener } from 'node:http'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { TransportRequest } from '../../src/client/transport/port.ts'
import { bytes } from './transport-request.ts'

/** One request that fetch and our transport must see, and be seen, alike. */
export interface WireCase {
  readonly name: string
  readonly path: string
  readonly request?: Partial<TransportRequest>
}

const text = 'The quick brown fox. '.repeat(40)
const post = { method: 'POST', body: bytes('{"a":1}'), headers: [['content-type', 'application/json']] } as const
const secrets = [
  ['authorization', 'Bearer x'],
  ['cookie', 'a=b'],
  ['proxy-authorization', 'Basic y'],
  ['x-own', 'kept'],
] as const

const redirects: WireCase[] = [301, 302, 303, 307, 308].flatMap((status) => [
  { name: `GET over ${status}`, path: `/redirect/${status}/echo` },
  { name: `POST over ${status}`, path: `/redirect/${status}/echo`, request: post },
  { name: `PUT over ${status}`, path: `/redirect/${status}/echo`, request: { ...post, method: 'PUT' } },
  { name: `HEAD over ${status}`, path: `/redirect/${status}/echo`, request: { method: 'HEAD' } },
  { name: `credentials over ${status}, same origin`, path: `/redirect/${status}/echo`, request: { headers: secrets } },
  { name: `credentials over ${status}, other origin`, path: `/away/${status}`, request: { ...post, headers: secrets } },
  { name: `${status} by hand`, path: `/redirect/${status}/echo`, request: { redirect: 'manual' } },
  { name: `${status} as an error`, path: `/redirect/${status}/echo`, request: { redirect: 'error' } },
])

export const wireCases: readonly WireCase[] = [
  ...redirects,
  { name: 'a relative location', path: '/relative/here' },
  { name: 'a location that is only a query', path: '/query' },
  { name: 'a location with accents', path: '/accents' },
  { name: 'a fragment that is carried along', path: '/redirect/302/echo#part' },
  { name: 'a redirect without location', path: '/no-location' },
  { name: 'a redirect without location, as an error', path: '/no-location', request: { redirect: 'error' } },
  { name: 'a status 300', path: '/status/300' },
  { name: 'twenty redirects', path: '/countdown/20' },
  { name: 'twenty-one redirects', path: '/countdown/21' },
  { name: 'a redirect in a circle', path: '/circle' },
  { name: 'a redirect to another scheme', path: '/scheme' },
  { name: 'a redirect to nonsense', path: '/nonsense' },
  { name: 'a redirect with credentials in its URL', path: '/userinfo' },
  { name: 'a redirect with a body of its own', path: '/redirect-with-body' },
  ...[
    'gzip',
    'x-gzip',
    'deflate',
    'deflate-raw',
    'br',
    'gzip, br',
    'deflate, gzip',
    'GZIP',
    'unknown',
    'gzip, unknown',
  ].map((coding) => ({ name: `content-encoding: ${coding}`, path: `/coded/${encodeURIComponent(coding)}` })),
  { name: 'coded, but empty', path: '/coded-empty' },
  { name: 'coded, but cut short', path: '/coded-short' },
  { name: 'coded, but garbage', path: '/coded-garbage' },
  { name: 'five codings', path: '/coded-five' },
  { name: 'six codings', path: '/coded-six' },
  { name: 'a HEAD with content-length and coding', path: '/coded/gzip', request: { method: 'HEAD' } },
  ...[200, 201, 204, 205, 304, 400, 404, 418, 500, 503].map((status) => ({
    name: `status ${status}`,
    path: `/status/${status}`,
  })),
  { name: 'an empty body', path: '/empty' },
  { name: 'chunks', path: '/chunks' },
  { name: 'trailers', path: '/trailers' },
  { name: 'several headers of one name', path: '/repeated' },
  { name: 'a POST without body', path: '/echo', request: { method: 'POST' } },
  { name: 'a PUT with an empty body', path: '/echo', request: { method: 'PUT', body: new Uint8Array() } },
  { name: 'a PATCH', path: '/echo', request: { ...post, method: 'PATCH' } },
  { name: 'a DELETE', path: '/echo', request: { method: 'DELETE' } },
  { name: 'a DELETE with a body', path: '/echo', request: { ...post, method: 'DELETE' } },
  { name: 'OPTIONS', path: '/echo', request: { method: 'OPTIONS' } },
  { name: 'a query with what needs escaping', path: '/echo?a=b c&d=ä#gone' },
  { name: 'Latin-1 in a request header', path: '/echo', request: { headers: [['x-own', 'caf\u00e9']] } },
  { name: 'a given accept header', path: '/echo', request: { headers: [['accept', 'text/plain']] } },
  { name: 'a range', path: '/echo', request: { headers: [['range', 'bytes=0-1']] } },
  { name: 'a header with a line break', path: '/echo', request: { headers: [['x-own', 'a\r\nb']] } },
  { name: 'a header outside Latin-1', path: '/echo', request: { headers: [['x-own', '\u0142']] } },
]

/** Answers for all of the above; `away` is where another origin listens. */
export function wireListener(away: () => string): RequestListener {
  return (request, response) => {
    const [, kind = '', first = '', ...more] = (request.url ?? '').split('?')[0]?.split('/') ?? []
    const redirect = (status: number, location: string): void => {
      response.writeHead(status, { location }).end()
    }
    const coded = (coding: string, body: Uint8Array): void => {
      response.writeHead(200, { 'content-encoding': coding, 'content-length': body.byteLength }).end(body)
    }
    const answers: Record<string, () => void> = {
      echo: () => response.setHeader('content-type', 'text/plain').end(`${request.method} ${request.url}`),
      redirect: () => redirect(Number(first), `/${more.join('/')}`),
      away: () => redirect(Number(first), `${away()}/echo`),
      relative: () => redirect(302, '../echo'),
      query: () => (request.url?.includes('?') ? response.end('arrived') : redirect(302, '?arrived')),
      accents: () => redirect(302, Buffer.from('/echo?caf\u00e9').toString('latin1')),
      'no-location': () => response.writeHead(302).end('stay'),
      status: () => response.writeHead(Number(first), 'In Words').end(),
      countdown: () => redirect(302, Number(first) > 1 ? `/countdown/${Number(first) - 1}` : '/echo'),
      circle: () => redirect(302, '/circle'),
      scheme: () => redirect(302, 'ftp://127.0.0.1/x'),
      nonsense: () => redirect(302, 'http://[::'),
      userinfo: () => redirect(302, `${away().replace('://', '://user:word@')}/echo`),
      'redirect-with-body': () => response.writeHead(302, { location: '/echo' }).end('x'.repeat(100_000)),
      coded: () => coded(...encodeAs(decodeURIComponent(first))),
      'coded-empty': () => coded('gzip', new Uint8Array()),
      'coded-short': () => coded('gzip', gzipSync(text).subarray(0, 30)),
      'coded-garbage': () => coded('gzip', bytes('this is no gzip')),
      'coded-six': () => coded(...encodeAs('gzip, gzip, gzip, gzip, gzip, gzip')),
      'coded-five': () => coded(...encodeAs('gzip, gzip, gzip, gzip, gzip')),
      empty: () => response.end(),
      chunks: () => {
        response.write('one,')
        response.write('two,')
        response.end('three')
      },
      trailers: () => {
        response.writeHead(200, { trailer: 'x-sum' })
        response.write('body')
        response.addTrailers({ 'x-sum': '1' })
        response.end()
      },
      repeated: () =>
        response
          .setHeader('set-cookie', ['a=1', 'b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT'])
          .setHeader('x-many', ['1', '2'])
          .end('ok'),
    }
    const answer = answers[kind]
    if (answer) answer()
    else response.writeHead(404).end()
  }
}

function encodeAs(coding: string): [string, Uint8Array] {
  if (coding === 'deflate-raw') return ['deflate', deflateRawSync(text)]
  let body: Uint8Array = bytes(text)
  for (const step of coding.toLowerCase().split(', ')) {
    if (step === 'gzip' || step === 'x-gzip') body = gzipSync(body)
    if (step === 'deflate') body = deflateSync(body)
    if (step === 'br') body = brotliCompressSync(body)
  }
  return [coding, body]
}

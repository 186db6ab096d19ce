import type { Answer } from '../support/answer.ts'
import { call, type ParityCase, play } from '../support/parity-case.ts'
import { REQUESTS } from '../support/scene.ts'
import { answerSight, nextChunk, outcomeInTime } from '../support/sight.ts'

const TEXT = 'the same again and again, '.repeat(20)

const WHOLE: Readonly<Record<string, Answer>> = {
  gzip: { body: TEXT, encoding: 'gzip' },
  br: { body: TEXT, encoding: 'br' },
  deflate: { body: TEXT, encoding: 'deflate' },
  'raw deflate': { body: TEXT, encoding: 'deflate-raw' },
  'an empty body as gzip': { body: '', encoding: 'gzip' },
  identity: { body: TEXT, headers: [['content-encoding', 'identity']] },
  'an unknown encoding': { body: TEXT, headers: [['content-encoding', 'own']] },
  'a length that is exact': { body: TEXT },
  'chunks that are small': { steps: [{ send: 'a' }, { send: 'b' }, { send: 'c' }] },
  'no length, until the connection ends': { headers: [['transfer-encoding', 'identity']], steps: [{ raw: TEXT }] },
  'a length that is too short': { headers: [['content-length', '5']], steps: [{ raw: 'hello world' }] },
  'bytes that are no text': { body: '\x00\xff\xfe\x80\xc3' },
  'a byte order mark': { body: '\xef\xbb\xbfhello' },
}

/** Answers whose body breaks: the head has come, the caller finds out when it reads. */
const BROKEN: Readonly<Record<string, Answer>> = {
  'gzip that is none': { body: 'this is no gzip', headers: [['content-encoding', 'gzip']] },
  'a length that is too long': { headers: [['content-length', '50']], steps: [{ raw: 'hello' }, 'wait'] },
  'chunks that break off': { steps: [{ send: 'one' }, 'wait', 'cut'] },
  'a chunk with a nonsense length': {
    headers: [['transfer-encoding', 'chunked']],
    steps: [{ raw: '3\r\none\r\n' }, 'wait', { raw: 'nonsense\r\n' }],
  },
}

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['x-spaces', '  \t a  b \t '],
  ['x-empty', ''],
  ['x-latin', 'caf\xe9'],
  ['x-utf8', 'caf\xc3\xa9'],
  ['X-Capitals', 'Kept'],
  ['x-twice', '1'],
  ['x-twice', '2'],
  ['set-cookie', 'a=1; HttpOnly'],
  ['set-cookie', 'b=2, 3'],
  ['x-long', 'l'.repeat(4000)],
]

function broken([name, answer]: [string, Answer]): ParityCase {
  return play(`an answer with ${name}`, { head: 200 }, async (scene) => {
    const { fetch } = scene
    const response = await fetch(scene.url(answer))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const chunks = [await nextChunk(reader)]
    await scene.open()
    chunks.push(await nextChunk(reader))
    return { head: response.status, chunks, closed: await outcomeInTime(() => reader.closed) }
  })
}

export const framing: readonly ParityCase[] = [
  ...Object.entries(WHOLE).map(([name, answer]) =>
    call(`an answer with ${name}`, { answer: { status: 200 } }, (scene) => [scene.url(answer)]),
  ),
  ...Object.entries(WHOLE)
    .slice(0, 3)
    .map(([name, answer]) =>
      call(`an answer to a POST with ${name}`, { answer: { status: 200 } }, (scene) => [
        scene.url(answer),
        { method: 'POST', body: 'x' },
      ]),
    ),
  ...Object.entries(BROKEN).map(broken),
  play('text() of a body that breaks off', { text: { error: { class: 'TypeError' } } }, async (scene) => {
    const { fetch } = scene
    const response = await fetch(scene.url({ headers: [['content-length', '50']], steps: [{ raw: 'hello' }] }))
    return { text: await outcomeInTime(() => response.text()), used: response.bodyUsed, requests: REQUESTS }
  }),
  play('text() of a POST whose body breaks off', { text: { error: { class: 'TypeError' } } }, async (scene) => {
    const { fetch } = scene
    const url = scene.url({ headers: [['content-length', '50']], steps: [{ raw: 'hello' }] })
    const response = await fetch(url, { method: 'POST', body: 'x' })
    return { text: await outcomeInTime(() => response.text()), used: response.bodyUsed, requests: REQUESTS }
  }),
  call('an answer with odd headers', { answer: { headers: { 'x-twice': '1, 2' } } }, (scene) => [
    scene.url({ headers: ODD_HEADERS }),
  ]),
  call('an answer to a POST with odd headers', { answer: { headers: { 'x-twice': '1, 2' } } }, (scene) => [
    scene.url({ headers: ODD_HEADERS }),
    { method: 'POST', body: 'x' },
  ]),
  play({ name: 'getSetCookie()', where: 'node' }, { cookies: ['a=1; HttpOnly', 'b=2, 3'] }, async (scene) => {
    const { fetch } = scene
    const { headers } = await fetch(scene.url({ headers: ODD_HEADERS }))
    return { cookies: headers.getSetCookie(), get: headers.get('set-cookie') }
  }),
  play('an answer of 5 MB', { body: {} }, async (scene) => {
    const { fetch } = scene
    const sight = await answerSight(await fetch(scene.url({ steps: [{ fill: 5_000_000 }] })))
    return { ...sight, body: { what: sight.body } }
  }),
  play('an answer of 5 MB to a POST', { body: {} }, async (scene) => {
    const { fetch } = scene
    const url = scene.url({ steps: [{ fill: 5_000_000 }] })
    const sight = await answerSight(await fetch(url, { method: 'POST', body: 'x' }))
    return { ...sight, body: { what: sight.body } }
  }),
]

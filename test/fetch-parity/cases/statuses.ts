import type { Answer } from '../support/answer.ts'
import { call, type ParityCase, play } from '../support/parity-case.ts'
import { answerSight } from '../support/sight.ts'

const FINAL = [200, 201, 202, 206, 299, 300, 305, 400, 401, 403, 404, 409, 410, 413, 418, 422, 451, 499, 501, 511, 599]
const SENT_AGAIN = [408, 425, 429, 500, 502, 503, 504, 522, 529]
const BODILESS = [204, 205, 304]

function answerCase(name: string, answer: Answer, shows: object): ParityCase {
  return call(name, { answer: shows }, (scene) => [scene.url(answer)])
}

function informed(status: number): Answer {
  return { before: [{ raw: `HTTP/1.1 ${status} Soon\r\nlink: </a>\r\n\r\n` }], body: 'then' }
}

export const statuses: readonly ParityCase[] = [
  ...FINAL.map((status) => answerCase(`status ${status}`, { status, body: 'said' }, { status, body: 'said' })),
  ...SENT_AGAIN.map((status) =>
    call({ name: `status ${status}`, difference: 'sentAgain' }, { answer: { status, body: 'said' } }, (scene) => [
      scene.url({ status, body: 'said' }),
    ]),
  ),
  ...[500, 502, 504, 408].map((status) =>
    call({ name: `status ${status} to a POST`, difference: 'sentAgainWithKey' }, { answer: { status } }, (scene) => [
      scene.url({ status, body: 'said' }),
      { method: 'POST', body: 'x' },
    ]),
  ),
  call({ name: 'status 429 to a POST', difference: 'sentAgain' }, { answer: { status: 429 } }, (scene) => [
    scene.url({ status: 429, body: 'said' }),
    { method: 'POST', body: 'x' },
  ]),
  ...[400, 404, 409, 422].map((status) =>
    call(`status ${status} to a POST`, { answer: { status, body: '{"why":"x"}' } }, (scene) => [
      scene.url({ status, body: '{"why":"x"}', headers: [['content-type', 'application/problem+json']] }),
      { method: 'POST', body: 'x' },
    ]),
  ),
  ...BODILESS.map((status) => call(`status ${status}`, { answer: { status } }, (scene) => [scene.url({ status })])),
  ...BODILESS.map((status) =>
    call(`status ${status} to a PUT`, { answer: { status } }, (scene) => [scene.url({ status }), { method: 'PUT' }]),
  ),
  ...[200, 404].map((status) =>
    call(`status ${status} to HEAD`, { answer: { status, headers: { 'content-length': '4' } } }, (scene) => [
      scene.url({ status, body: 'none' }),
      { method: 'HEAD' },
    ]),
  ),
  answerCase('no reason phrase', { reason: '' }, { statusText: '' }),
  answerCase(
    'an odd reason phrase',
    { reason: "Fine, thanks; 'it's' (good)" },
    { statusText: "Fine, thanks; 'it's' (good)" },
  ),
  answerCase('a reason phrase in Latin-1', { reason: 'caf\xe9' }, { status: 200 }),
  answerCase('an empty body', { body: '' }, { status: 200, body: '' }),
  ...[102, 103].map((status) =>
    answerCase(`${status} before the answer`, informed(status), { status: 200, body: 'then' }),
  ),
  // A 101 is an answer to one version of Node and a fault to another.
  call({ name: '100 that was not asked for', difference: { node: 'sentAgain' } }, {}, (scene) => [
    scene.url(informed(100)),
  ]),
  ...[301, 302, 303, 307, 308].map((status) =>
    answerCase(`${status} without a location`, { status, body: 'nowhere' }, { status, body: 'nowhere' }),
  ),
  ...['HTTP/1.1 abc Fine', 'HTTP/1.1 20', 'nonsense'].map((line) =>
    call(
      {
        name: `an answer that begins with ${line}`,
        difference: line === 'nonsense' ? 'sentAgain' : { node: 'sentAgain' },
      },
      {},
      (scene) => [scene.url({ before: [{ raw: `${line}\r\n\r\n` }] })],
    ),
  ),
  play('answers to a keyed request come as they are', { status: 201, headers: { 'x-own': '1' } }, async (scene) => {
    const { fetch } = scene
    const url = scene.url({ status: 201, reason: 'Made', headers: [['x-own', '1']], body: 'made' })
    const headers = { 'Idempotency-Key': 'case-own-key' }
    return answerSight(await fetch(url, { method: 'POST', headers, body: 'x' }))
  }),
]

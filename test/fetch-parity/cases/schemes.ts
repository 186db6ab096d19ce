import { call, type ParityCase, play } from '../support/parity-case.ts'
import { answerSight, outcomeInTime } from '../support/sight.ts'

const DATA: Readonly<Record<string, string>> = {
  'data:,plain': 'plain',
  'data:text/html;charset=utf-8,%3Cp%3E': '<p>',
  'data:;base64,aGVsbG8=': 'hello',
  'data:;base64,aGVs%20bG8': 'hello',
  'data:,': '',
  'DATA:,caps': 'caps',
  'data:,with#fragment': 'with',
  'data:image/png;base64,AAEC': '\x00\x01\x02',
}

const REFUSED = [
  'data:no-comma',
  'data:;base64,!!!',
  'about:blank',
  'about:config',
  'file:///etc/hostname',
  'ftp://127.0.0.1/',
  'unknown:thing',
  'javascript:1',
  'blob:nowhere',
  'ws://127.0.0.1/',
  'mailto:a@b.c',
]

export const schemes: readonly ParityCase[] = [
  ...Object.entries(DATA).map(([url, body]) => call(url, { answer: { status: 200, body } }, () => [url])),
  ...REFUSED.map((url) => call(`${url} is refused`, { error: { class: 'TypeError' } }, () => [url])),
  call('data: as a Request', { answer: { body: 'x' } }, () => [new Request('data:,x')]),
  call('data: as a URL', { answer: { body: 'x' } }, () => [new URL('data:,x')]),
  call('data: by HEAD', {}, () => ['data:,x', { method: 'HEAD' }]),
  call('data: by POST', {}, () => ['data:,x', { method: 'POST', body: 'y' }]),
  call('data: with an aborted signal', { error: { name: 'AbortError' } }, () => [
    'data:,x',
    { signal: AbortSignal.abort() },
  ]),
  play('blob: with a type', { answer: { status: 200, body: 'blob' } }, (scene) => blobSight(scene.fetch, {})),
  play('blob: by POST', { error: { class: 'TypeError' } }, (scene) => blobSight(scene.fetch, { method: 'POST' })),
  play('blob: by range', {}, (scene) => blobSight(scene.fetch, { headers: { range: 'bytes=1-2' } })),
  play('blob: that was revoked', { error: { class: 'TypeError' } }, async ({ fetch }) => {
    const url = URL.createObjectURL(new Blob(['gone']))
    URL.revokeObjectURL(url)
    return outcomeInTime(() => fetch(url))
  }),
]

async function blobSight(fetch: typeof globalThis.fetch, init: RequestInit): Promise<unknown> {
  const url = URL.createObjectURL(new Blob(['blob'], { type: 'text/x' }))
  try {
    return await outcomeInTime(async () => {
      const answer = await answerSight(await fetch(url, init))
      return { answer: { ...answer, url: answer.url === url } }
    })
  } finally {
    URL.revokeObjectURL(url)
  }
}

import type { Step } from '../support/answer.ts'
import { call, type ParityCase, play } from '../support/parity-case.ts'
import { REQUESTS, type Scene } from '../support/scene.ts'
import { nextChunk, outcomeInTime, pause } from '../support/sight.ts'

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  'text/event-stream': ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n'],
  'application/x-ndjson': ['{"n":1}\n', '{"n":2}\n', '{"n":3}\n'],
  'text/plain': ['1', '2', '3'],
}

/** The server sends the next piece only when the caller has the one before. */
function asItComes(type: string, method: string): ParityCase {
  const pieces = FORMATS[type] ?? []
  const steps = pieces.flatMap<Step>((piece) => [{ send: piece }, 'wait'])
  return play(`${type} as it comes, by ${method}`, { chunks: [...pieces, 'done'] }, async (scene) => {
    const { fetch } = scene
    const init = method === 'POST' ? { method, body: 'x' } : { method }
    const response = await fetch(scene.url({ headers: [['content-type', type]], steps }), init)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const chunks: unknown[] = []
    for (const _ of [...pieces, 'done']) {
      chunks.push(await nextChunk(reader))
      await scene.open()
    }
    return { chunks, requests: REQUESTS }
  })
}

/** The head must be with the caller before there is any body. */
function headFirst(method: string): ParityCase {
  return play(`the head before the body, by ${method}`, { status: 200, text: 'late' }, async (scene) => {
    const { fetch } = scene
    const promise = fetch(scene.url({ steps: ['wait', { send: 'late' }] }), { method })
    const status = await outcomeInTime(async () => (await promise).status)
    await scene.open()
    return { status, text: await outcomeInTime(async () => (await promise).text()) }
  })
}

/** The caller stops reading in this way; the server must see the connection close. */
const WAYS_OUT: Readonly<Record<string, (response: Response) => Promise<unknown>>> = {
  'cancel of the body': async ({ body }) => body?.cancel('enough'),
  'cancel of the reader': async ({ body }) => {
    const reader = body?.getReader()
    await reader?.read()
    return reader?.cancel()
  },
  'leaving a loop': async ({ body }) => {
    for await (const _ of body as never as AsyncIterable<Uint8Array>) break
  },
}

async function endless(scene: Scene, init: RequestInit): Promise<Response> {
  const { fetch } = scene
  return fetch(scene.url({ steps: [{ send: 'one' }, 'hang'] }), init)
}

export const streaming: readonly ParityCase[] = [
  ...Object.keys(FORMATS).flatMap((type) => ['GET', 'POST'].map((method) => asItComes(type, method))),
  ...['GET', 'POST', 'PUT'].map(headFirst),
  ...Object.entries(WAYS_OUT).flatMap(([name, leave]) =>
    ['GET', 'POST'].map((method) =>
      play(`${name} ends the connection of a ${method}`, { closed: 'closed' }, async (scene) => {
        const response = await endless(scene, { method })
        const left = await outcomeInTime(() => leave(response))
        return { left: left ?? null, closed: await scene.until('closed'), used: response.bodyUsed }
      }),
    ),
  ),
  play('cancel of one branch leaves the other', { text: 'one', closed: 'never' }, async (scene) => {
    const response = await endless(scene, {})
    const other = (response.clone().body as ReadableStream<Uint8Array>).getReader()
    response.body?.cancel()
    return {
      text: await nextChunk(other),
      closed: await Promise.race([scene.until('closed'), pause(50).then(() => 'never')]),
    }
  }),
  play(
    { name: 'a reader that does not read holds the server up', where: 'node' },
    { stalled: 'stalled' },
    async (scene) => {
      const { fetch } = scene
      const response = await fetch(scene.url({ steps: [{ fill: 60_000_000 }] }))
      const stalled = await scene.until('stalled')
      await response.body?.cancel()
      return { stalled }
    },
  ),
  play(
    { name: 'a reader that does not read holds the server up, by POST', where: 'node' },
    { stalled: 'stalled' },
    async (scene) => {
      const { fetch } = scene
      const response = await fetch(scene.url({ steps: [{ fill: 60_000_000 }] }), { method: 'POST', body: 'x' })
      const stalled = await scene.until('stalled')
      await response.body?.cancel()
      return { stalled }
    },
  ),
  call('an answer that is never read to its end', { answer: { status: 200 } }, (scene) => [scene.url({ body: 'all' })]),
  play('tee()', { both: ['hello', 'hello'] }, async (scene) => {
    const { fetch } = scene
    const { body } = await fetch(scene.url())
    const branches = (body as ReadableStream<Uint8Array>).tee()
    return { both: await Promise.all(branches.map((branch) => new Response(branch).text())) }
  }),
  play('pipeThrough()', { text: 'hello' }, async (scene) => {
    const { fetch } = scene
    const { body } = await fetch(scene.url())
    const reader = (body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader()
    return { text: (await reader.read()).value }
  }),
  play('a reader with a buffer of its own', { value: 'hel' }, async (scene) => {
    const { fetch } = scene
    const { body } = await fetch(scene.url())
    const reader = (body as ReadableStream<Uint8Array>).getReader({ mode: 'byob' })
    const { value, done } = await reader.read(new Uint8Array(3))
    return { value: new TextDecoder().decode(value), done }
  }),
  play('the body of an answer as the body of a request', { requests: [{}, {}] }, async (scene) => {
    const { fetch } = scene
    const { body } = await fetch(scene.url())
    const init = { method: 'PUT', body: await new Response(body).blob() }
    const answer = await outcomeInTime(async () => (await fetch(scene.url(), init)).status)
    return { answer, requests: REQUESTS }
  }),
]

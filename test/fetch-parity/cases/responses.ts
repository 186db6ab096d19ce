import { type ParityCase, play } from '../support/parity-case.ts'
import type { Scene } from '../support/scene.ts'
import { answerSight, headSight, outcome } from '../support/sight.ts'

const JSON_ANSWER = { headers: [['content-type', 'application/json']], body: '{"a":[1]}' } as const

/** Every reader, and the answer that it reads. */
const READERS: Readonly<Record<string, (response: Response) => Promise<unknown>>> = {
  text: (response) => response.text(),
  json: (response) => response.json(),
  arrayBuffer: async (response) => [...new Uint8Array(await response.arrayBuffer())],
  blob: async (response) => {
    const blob = await response.blob()
    return { type: blob.type, size: blob.size, text: await blob.text() }
  },
  bytes: async (response) => {
    const { bytes } = response as { bytes?: () => Promise<Uint8Array> }
    return bytes ? [...(await bytes.call(response))] : 'unknown here'
  },
  formData: async (response) => [...(await response.formData())],
}

const ANSWERS = {
  json: JSON_ANSWER,
  'broken json': { body: '{"a":' },
  nothing: { body: '' },
  'a form': { headers: [['content-type', 'application/x-www-form-urlencoded']], body: 'a=1&b=2' },
  'a multipart form': {
    headers: [['content-type', 'multipart/form-data; boundary=x']],
    body: '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
  },
} as const

function responseCase(name: string, shows: object, look: (response: Response, scene: Scene) => unknown): ParityCase[] {
  return ['GET', 'POST'].map((method) =>
    play(`${name}, ${method}`, shows, async (scene) => {
      const { fetch } = scene
      return look(await fetch(scene.url(JSON_ANSWER), { method }), scene)
    }),
  )
}

export const responses: readonly ParityCase[] = [
  ...Object.entries(READERS).flatMap(([reader, read]) =>
    ['POST', ...(reader === 'text' ? ['GET'] : [])].map((method) =>
      play(`${reader}(), ${method}`, { json: { status: 200 } }, async (scene) => {
        const { fetch } = scene
        const seen: Record<string, unknown> = {}
        for (const [name, answer] of Object.entries(ANSWERS)) {
          const response = await fetch(scene.url(answer), { method })
          const value = await outcome(() => read(response))
          seen[name] = { status: response.status, value, used: response.bodyUsed }
        }
        return seen
      }),
    ),
  ),
  ...responseCase('clone()', { copy: { status: 200, isResponse: true } }, async (response) => {
    const copy = response.clone()
    return { copy: await answerSight(copy), own: await answerSight(response) }
  }),
  ...responseCase('clone() after reading', { clone: { error: { class: 'TypeError' } } }, async (response) => {
    await response.text()
    return { clone: await outcome(() => headSight(response.clone())) }
  }),
  ...responseCase('a body read twice', { second: { error: { class: 'TypeError' } } }, async (response) => ({
    before: response.bodyUsed,
    first: await outcome(() => response.text()),
    after: response.bodyUsed,
    second: await outcome(() => response.text()),
  })),
  ...responseCase(
    'headers that can not be changed',
    { set: { error: { class: 'TypeError' } } },
    async ({ headers }) => ({
      set: await outcome(() => headers.set('a', 'b')),
      append: await outcome(() => headers.append('a', 'b')),
      delete: await outcome(() => headers.delete('content-type')),
      cloned: [...new Headers(headers)].length === [...headers].length,
    }),
  ),
  ...responseCase('what kind of thing it is', { tag: '[object Response]', isPlain: true }, (response) => ({
    tag: Object.prototype.toString.call(response),
    isPlain: response.constructor === Response,
    own: Object.getOwnPropertyNames(response),
    headers: Object.getPrototypeOf(response.headers) === Headers.prototype,
    body: Object.getPrototypeOf(response.body) === ReadableStream.prototype,
  })),
  ...responseCase('body locked by a reader', { locked: true }, async (response) => {
    response.body?.getReader()
    return { locked: response.body?.locked, used: response.bodyUsed, text: await outcome(() => response.text()) }
  }),
  ...responseCase('a Response around it', { text: '{"a":[1]}', url: '' }, async (response) => {
    const around = new Response(response.body, response)
    return { text: await around.text(), url: around.url, status: around.status, used: response.bodyUsed }
  }),
  ...responseCase('members that can only be read', { status: 200 }, (response) => {
    const { status } = response
    return {
      status,
      assigned: Reflect.set(response, 'status', 500),
      afterwards: response.status,
      keys: Object.keys(response),
    }
  }),
]

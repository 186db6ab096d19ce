import { setTimeout as pause } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'
import { anthropicOn } from './snippets/anthropic.ts'
import { openaiOn } from './snippets/openai.ts'
import { aimedAt, describeError, type FetchOwner } from './support/cell.ts'
import { setEnvironment } from './support/environment.ts'
import { type EventServer, eventServer } from './support/event-server.ts'

interface OpenStream {
  readonly controller: AbortController
  readonly texts: AsyncIterator<string>
}

interface StreamingSdk {
  readonly event: (text: string) => string
  readonly open: (client: FetchOwner, headers: Record<string, string>) => Promise<OpenStream>
}

setEnvironment()

const messages = [{ role: 'user' as const, content: 'Count' }]

const sdks: Readonly<Record<string, StreamingSdk>> = {
  OpenAI: {
    event: (text) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`,
    open: async (client, headers) => {
      const body = { model: 'gpt', messages, stream: true as const }
      const stream = await openaiOn(client).chat.completions.create(body, { headers })
      return { controller: stream.controller, texts: textsOf(stream, (chunk) => chunk.choices[0]?.delta.content ?? '') }
    },
  },
  Anthropic: {
    event: (text) => {
      const data = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
      return `event: content_block_delta\ndata: ${JSON.stringify(data)}\n\n`
    },
    open: async (client, headers) => {
      const body = { model: 'claude', max_tokens: 9, messages, stream: true as const }
      const stream = await anthropicOn(client).messages.create(body, { headers })
      const text = (event: unknown): string => (event as { delta: { text: string } }).delta.text
      return { controller: stream.controller, texts: textsOf(stream, text) }
    },
  },
}

async function* textsOf<T>(stream: AsyncIterable<T>, text: (chunk: T) => string): AsyncGenerator<string> {
  for await (const chunk of stream) yield text(chunk)
}

async function restOf(texts: AsyncIterator<string>): Promise<string[]> {
  const rest: string[] = []
  for (let next = await texts.next(); !next.done; next = await texts.next()) rest.push(next.value)
  return rest
}

const fetches: Readonly<Record<string, () => FetchOwner & { close(): Promise<void> }>> = {
  'the platform’s fetch': () => ({ fetch: globalThis.fetch, close: async () => {} }),
  'our fetch': () => createClient({ journal: memoryJournal() }),
}
const requests = { 'without a key': {}, 'with a key': { 'Idempotency-Key': 'count:1' } }

const cases = Object.entries(sdks).flatMap(([name, sdk]) =>
  Object.entries(fetches).flatMap(([by, fetchOf]) =>
    Object.entries(requests).map(([how, headers]) => ({ name, sdk, by, fetchOf, how, headers })),
  ),
)

describe.concurrent.each(cases)('a stream of $name by $by, $how', ({ sdk, fetchOf, headers }) => {
  const numbers = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(500)}`)

  async function during(use: (server: EventServer, stream: OpenStream) => Promise<void>): Promise<void> {
    const server = await eventServer(numbers.map(sdk.event))
    const client = fetchOf()
    try {
      await use(server, await sdk.open(aimedAt(server.origin, client), headers))
    } finally {
      await server.close()
      await client.close()
    }
  }

  it('arrives as it comes, and whole', async ({ expect }) => {
    await during(async (server, { texts }) => {
      expect(await texts.next()).toEqual({ done: false, value: numbers[0] })
      await pause(1500)
      expect(server.isDone()).toBe(false)
      server.goOn('to the end')
      expect(await restOf(texts)).toEqual(numbers.slice(1))
      expect(server.requests).toHaveLength(1)
    })
  })

  it('that is cut ends with an error, and is not requested again', async ({ expect }) => {
    await during(async (server, { texts }) => {
      await texts.next()
      server.goOn('by a cut')
      expect(await texts.next().then(() => 'no error', describeError)).toMatch(/terminated|other side closed/)
      await pause(100)
      expect(server.requests).toHaveLength(1)
    })
  })

  it('that the caller aborts ends at the server', async ({ expect }) => {
    await during(async (server, { controller, texts }) => {
      await texts.next()
      controller.abort()
      await server.gone
      expect(server.isDone()).toBe(false)
    })
  })
})

import { anthropicOn } from './snippets/anthropic.ts'
import { openaiOn } from './snippets/openai.ts'
import type { FetchOwner } from './support/cell.ts'
import { grid } from './support/grid.ts'

interface Retries {
  readonly maxRetries: number
}

const options = { retry: false } as const
const messages = [{ role: 'user' as const, content: 'Say hello' }]

const completion = {
  answer: () => ({ body: { object: 'chat.completion', choices: [{ message: { content: 'hello' } }] } }),
  gives: 'hello',
}

const message = {
  answer: () => ({ body: { type: 'message', content: [{ type: 'text', text: 'hello' }] } }),
  gives: [{ type: 'text', text: 'hello' }],
}

async function complete(client: FetchOwner, retries?: Retries): Promise<unknown> {
  const { choices } = await openaiOn(client).chat.completions.create({ model: 'gpt', messages }, retries)
  return choices[0]?.message.content
}

async function ask(client: FetchOwner, retries?: Retries): Promise<unknown> {
  const { content } = await anthropicOn(client).messages.create({ model: 'claude', max_tokens: 9, messages }, retries)
  return content
}

grid([
  {
    title: 'POST without a key: all but Stripe',
    calls: {
      'a completion by OpenAI': { call: (client) => complete(client), ...completion },
      'a message by Anthropic': { call: (client) => ask(client), ...message },
    },
  },
  {
    title: 'POST: OpenAI, Anthropic with their own 2 retries',
    calls: {
      'a completion by OpenAI with retries': { call: (client) => complete(client, { maxRetries: 2 }), ...completion },
      'a message by Anthropic with retries': { call: (client) => ask(client, { maxRetries: 2 }), ...message },
    },
  },
  {
    title: 'POST: OpenAI, Anthropic, on a client with `retry: false`',
    calls: {
      'a completion by OpenAI with retries of its own alone': {
        call: (client) => complete(client, { maxRetries: 2 }),
        options,
        ...completion,
      },
      'a message by Anthropic with retries of its own alone': {
        call: (client) => ask(client, { maxRetries: 2 }),
        options,
        ...message,
      },
    },
  },
])

import { anthropicOn } from './snippets/anthropic.ts'
import { openaiOn } from './snippets/openai.ts'
import type { FetchOwner } from './support/cell.ts'
import { grid } from './support/grid.ts'

interface Retries {
  readonly maxRetries: number
}

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
    title: 'OpenAI, Anthropic, `maxRetries: 0`',
    calls: {
      'a completion by OpenAI': { call: (client) => complete(client), ...completion },
      'a message by Anthropic': { call: (client) => ask(client), ...message },
    },
  },
  {
    title: 'OpenAI, Anthropic, their own 2 retries',
    calls: {
      'a completion by OpenAI with retries': { call: (client) => complete(client, { maxRetries: 2 }), ...completion },
      'a message by Anthropic with retries': { call: (client) => ask(client, { maxRetries: 2 }), ...message },
    },
  },
])

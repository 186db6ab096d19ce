import OpenAI from 'openai'
import type { FetchOwner } from '../support/cell.ts'

export function openaiOn(client: FetchOwner): OpenAI {
  const openai = new OpenAI({ fetch: client.fetch, maxRetries: 0 })
  return openai
}

import Anthropic from '@anthropic-ai/sdk'
import type { FetchOwner } from '../support/cell.ts'

export function anthropicOn(client: FetchOwner): Anthropic {
  const anthropic = new Anthropic({ fetch: client.fetch, maxRetries: 0 })
  return anthropic
}

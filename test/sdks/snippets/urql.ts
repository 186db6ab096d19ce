import { Client, fetchExchange } from '@urql/core'
import type { FetchOwner } from '../support/cell.ts'

export function urqlOn(client: FetchOwner): Client {
  const urql = new Client({ url: 'https://api.example.com/graphql', exchanges: [fetchExchange], fetch: client.fetch })
  return urql
}

import { createFetch } from 'ofetch'
import type { FetchOwner } from '../support/cell.ts'

export function ofetchOn(client: FetchOwner) {
  const api = createFetch({ fetch: client.fetch, defaults: { baseURL: 'https://api.example.com', retry: 0 } })
  return api
}

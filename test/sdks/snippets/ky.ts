import ky from 'ky'
import type { FetchOwner } from '../support/cell.ts'

export function kyOn(client: FetchOwner) {
  const api = ky.create({ prefixUrl: 'https://api.example.com', fetch: client.fetch, retry: 0 })
  return api
}

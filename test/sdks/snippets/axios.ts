import axios from 'axios'
import type { FetchOwner } from '../support/cell.ts'

export function axiosOn(client: FetchOwner) {
  const api = axios.create({ baseURL: 'https://api.example.com', adapter: 'fetch', env: { fetch: client.fetch } })
  return api
}

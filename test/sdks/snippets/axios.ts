import axios, { type AxiosInstance } from 'axios'
import type { FetchOwner } from '../support/cell.ts'

export function axiosOn(client: FetchOwner): AxiosInstance {
  const api = axios.create({ baseURL: 'https://api.example.com', adapter: 'fetch', env: { fetch: client.fetch } })
  return api
}

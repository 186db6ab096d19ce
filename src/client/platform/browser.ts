import { webDigest } from '../../foundation/digest.ts'
import { tabNeighbours } from '../coordination/tab-neighbours.ts'
import { indexedDbJournal } from '../journal/indexeddb/indexeddb-journal.ts'
import { fetchTransport } from '../transport/fetch/fetch-transport.ts'
import type { Platform } from './port.ts'

export const platform: Platform = {
  sendHeaders: false,
  pageOrigin: () => globalThis.location?.origin,
  digest: webDigest,
  defaultJournal: indexedDbJournal,
  // Asked for at each call, so that a fetch which is replaced later is used.
  transport: ({ fetch }) => fetchTransport(fetch ?? ((input, init) => globalThis.fetch(input, init))),
  coordination: () => tabNeighbours(),
}

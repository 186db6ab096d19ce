import { webDigest } from '../../foundation/digest.ts'
import { globalFetch } from '../../foundation/own-fetch.ts'
import { tabPeers } from '../coordination/tab-peers.ts'
import { indexedDbJournal } from '../journal/indexeddb/indexeddb-journal.ts'
import { fetchTransport } from '../transport/fetch/fetch-transport.ts'
import { forPage } from '../transport/fetch/for-page.ts'
import { isNativeFetch } from '../transport/fetch/native-fetch.ts'
import { PageConnections } from '../transport/fetch/page-connections.ts'
import { reaches } from '../transport/fetch/reaches.ts'
import { sendInPage } from '../transport/fetch/send-in-page.ts'
import type { Platform } from './port.ts'

/** One for all clients of the page. */
const { to: connectionsTo } = new PageConnections()

export const platform: Platform = {
  sendHeaders: false,
  pageOrigin: () => globalThis.location?.origin,
  digest: webDigest,
  defaultJournal: indexedDbJournal,
  transport: ({ fetch }) =>
    fetchTransport(fetch ?? globalFetch, {
      send: sendInPage,
      sendsOnce: isNativeFetch,
      adapt: forPage,
      connectionsTo,
      reaches,
    }),
  coordination: () => tabPeers(),
}

import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import ky from 'ky'
import pRetry from 'p-retry'
import { createClient, memoryJournal } from '../../../../src/index.ts'
import type { ClientName } from './blip-trial.ts'

/** A client of a trial. It reports each attempt under the idempotency key of its call. */
export interface BlipClient {
  post(url: string, key: string): PromiseLike<unknown>
  close?(): Promise<void>
}

export interface BlipClientOptions {
  readonly attempted: (key: string) => void
}

const BODY = { amount: 5000, currency: 'eur' }
const RETRIES = 4

/** As they come, except that each may retry a POST: several of them would send it once. */
export const BLIP_CLIENTS: Readonly<Record<ClientName, (options: BlipClientOptions) => BlipClient>> = {
  Holdfast: holdfastClient,
  'ky, 4 retries': kyClient,
  'axios-retry, 4 retries': axiosClient,
  got: gotClient,
  'p-retry + fetch': pRetryClient,
}

const keyed = (key: string): Record<string, string> => ({ 'idempotency-key': key })

function holdfastClient({ attempted }: BlipClientOptions): BlipClient {
  const client = createClient({
    journal: memoryJournal(),
    observe: (event) => {
      if (event.type === 'attempt.started') attempted(event.operation.key)
    },
  })
  return { post: (url, key) => client.post(url, { key, json: BODY }).text(), close: () => client.close() }
}

function kyClient({ attempted }: BlipClientOptions): BlipClient {
  return {
    post: (url, key) => {
      const counted: typeof fetch = (input, init) => {
        attempted(key)
        return fetch(input, init)
      }
      const retry = { limit: RETRIES, methods: ['post'] }
      return ky.post(url, { json: BODY, headers: keyed(key), retry, fetch: counted }).text()
    },
  }
}

/** With the delay of its documentation: by default axios-retry sends its retries at once. */
function axiosClient({ attempted }: BlipClientOptions): BlipClient {
  const client = axios.create()
  axiosRetry(client, {
    retries: RETRIES,
    retryCondition: axiosRetry.isRetryableError,
    retryDelay: axiosRetry.exponentialDelay,
  })
  client.interceptors.request.use((config) => {
    attempted(String(config.headers.get('idempotency-key')))
    return config
  })
  return { post: (url, key) => client.post(url, BODY, { headers: keyed(key) }) }
}

function gotClient({ attempted }: BlipClientOptions): BlipClient {
  return {
    post: (url, key) =>
      got
        .post(url, {
          json: BODY,
          headers: keyed(key),
          retry: { methods: ['POST'] },
          hooks: { beforeRequest: [() => attempted(key)] },
        })
        .text(),
  }
}

function pRetryClient({ attempted }: BlipClientOptions): BlipClient {
  const send = async (url: string, key: string): Promise<string> => {
    attempted(key)
    const headers = { 'content-type': 'application/json', ...keyed(key) }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(BODY) })
    if (!response.ok) throw new Error(String(response.status))
    return response.text()
  }
  return { post: (url, key) => pRetry(() => send(url, key)) }
}

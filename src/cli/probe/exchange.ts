import { type ClientRequest, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { startTimer, systemClock } from '../../foundation/clock.ts'
import type { HeaderList } from '../../protocol/headers.ts'

/** One request of a probe. */
export interface ProbeRequest {
  readonly url: URL
  readonly method: string
  readonly headers: HeaderList
  readonly body: Uint8Array
  readonly timeoutMs: number
}

export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array
  readonly durationMs: number
  /** The key that it was sent with. */
  readonly key: string
}

/** An answer, or a short word for why there was none. */
export type Seen = Answer | { readonly fault: string; readonly key: string }

export function isAnswer(seen: Seen): seen is Answer {
  return 'status' in seen
}

/** More is not needed to tell two answers apart. */
const MOST_BYTES = 1024 * 1024

function fault(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** One connection for one request, no redirect followed, nothing sent twice: what is seen is what the server did. */
export function exchange(request: ProbeRequest, key: string): Promise<Seen> {
  const startedAt = systemClock.now()
  return new Promise((resolve) => {
    const sent = start(request)
    const fail = (error: NodeJS.ErrnoException): void => resolve({ fault: error.code ?? error.message, key })
    // Of the whole exchange: a server that goes on to speak is not silent.
    const cancelTimer = startTimer(systemClock, request.timeoutMs, () => sent.destroy(fault('timeout')))
    sent.on('close', cancelTimer)
    sent.on('error', fail)
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > MOST_BYTES) sent.destroy(fault('more than 1 MiB'))
      })
      response.on('error', fail)
      response.on('end', () => {
        const headers = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value) => [name, value] as const),
        )
        const durationMs = systemClock.now() - startedAt
        resolve({ status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks), durationMs, key })
      })
    })
    sent.end(request.body)
  })
}

/** Sends the whole request and closes the connection after `patienceMs`, or as soon as an answer begins to arrive. */
export function sendAndHangUp(request: ProbeRequest, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const sent = start(request)
    const hangUp = (): void => {
      sent.destroy()
      resolve()
    }
    sent.on('error', hangUp)
    sent.on('response', hangUp)
    sent.on('finish', () => void systemClock.sleep(patienceMs).then(hangUp))
    sent.end(request.body)
  })
}

function start({ url, method, headers, body, timeoutMs }: ProbeRequest): ClientRequest {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const fields = { ...Object.fromEntries(headers), 'content-length': String(body.byteLength) }
  const sent = send(url, { method, headers: fields, agent: false, timeout: timeoutMs })
  sent.on('timeout', () => sent.destroy(fault('timeout')))
  return sent
}

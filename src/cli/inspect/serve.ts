import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AdmissionTerms, refuseRequest } from './admit-request.ts'
import { messageOf } from './changes.ts'
import { PAGE_FILES, SECURITY_HEADERS } from './page-files.ts'
import type { routesOf } from './routes.ts'
import { NOW_HEADER, type Refused } from './wire.ts'

export interface Serving {
  readonly terms: AdmissionTerms
  readonly routes: ReturnType<typeof routesOf>
  readonly now: () => number
}

const MOST_BODY_BYTES = 256 * 1024

/** One request, from its head to its answer. */
export async function serve(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
  const { method = '', headers } = request
  const url = new URL(request.url ?? '/', 'http://inspector')
  const { host, origin, authorization } = headers
  const head = { method, path: url.pathname, host, origin, authorization, contentType: headers['content-type'] }
  const refusal = refuseRequest(head, serving.terms)
  if (refusal) return sendJson(response, refusal.status, { error: refusal.error } satisfies Refused)
  const file = PAGE_FILES[url.pathname]
  if (file) return void response.writeHead(200, { 'content-type': file.type }).end(file.text)
  const route = serving.routes.get(`${method} ${url.pathname}`)
  if (!route) return sendJson(response, 404, { error: 'There is no such page.' } satisfies Refused)
  response.setHeader(NOW_HEADER, String(serving.now()))
  try {
    const body = method === 'POST' ? await readJson(request) : {}
    const value = await route(url.searchParams, body)
    if (value === undefined) return sendJson(response, 404, { error: 'There is no such record.' } satisfies Refused)
    sendFresh(request, response, value)
  } catch (error) {
    sendJson(response, 500, { error: messageOf(error) } satisfies Refused)
  }
}

/** What the page has already is not sent again. */
function sendFresh(request: IncomingMessage, response: ServerResponse, value: unknown): void {
  const text = JSON.stringify(value)
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  response.setHeader('etag', etag)
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MOST_BODY_BYTES) throw new Error(`A change of more than ${MOST_BODY_BYTES} bytes is not taken.`)
    chunks.push(chunk)
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  if (typeof value !== 'object' || value === null) throw new Error('A change is a JSON object.')
  return value as Readonly<Record<string, unknown>>
}

import type { ServerResponse } from 'node:http'
import type { HeaderList } from '../../../protocol/headers.ts'
import { byName, headerListOf } from '../own-headers.ts'
import type { Answer } from '../port.ts'

/** A response as it was before the handler touched it. */
export interface Blank {
  readonly status: number
  readonly headers: HeaderList
}

export function blankOf(res: ServerResponse): Blank {
  return { status: res.statusCode, headers: headersOf(res) }
}

export function headersOf(res: ServerResponse): HeaderList {
  return headerListOf(res.getHeaders())
}

/** Takes back what a handler has said. */
export function resetTo(res: ServerResponse, { status, headers }: Blank): void {
  res.statusCode = status
  res.statusMessage = ''
  for (const name of res.getHeaderNames()) res.removeHeader(name)
  setHeaders(res, headers)
}

/** Over what is there under the same names. */
export function setHeaders(res: ServerResponse, headers: HeaderList): void {
  for (const [name, values] of byName(headers)) {
    const [only = '', ...others] = values
    res.setHeader(name, others.length === 0 ? only : values)
  }
}

/** Sends an answer that is whole. */
export function sendAnswer(res: ServerResponse, answer: Answer): void {
  res.statusCode = answer.status
  setHeaders(res, answer.headers)
  res.end(answer.body ?? undefined)
}

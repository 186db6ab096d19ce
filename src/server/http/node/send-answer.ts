import { ServerResponse } from 'node:http'
import type { HeaderList } from '../../../protocol/headers.ts'
import { headerListOf, valuesByName } from '../handler-answer.ts'
import type { Answer } from '../port.ts'

/** Status and headers before the handler set any. */
export interface ResponseHead {
  readonly status: number
  readonly headers: HeaderList
}

export function headOf(res: ServerResponse): ResponseHead {
  return { status: res.statusCode, headers: responseHeaders(res) }
}

export function responseHeaders(res: ServerResponse): HeaderList {
  return headerListOf(res.getHeaders())
}

export function restoreHead(res: ServerResponse, { status, headers }: ResponseHead): void {
  res.statusCode = status
  // HTTP/2 has no reason phrase, and warns of one.
  if (res instanceof ServerResponse) res.statusMessage = ''
  for (const name of res.getHeaderNames()) res.removeHeader(name)
  setHeaders(res, headers)
}

/** Replaces fields of the same names. */
export function setHeaders(res: ServerResponse, headers: HeaderList): void {
  for (const [name, values] of valuesByName(headers)) {
    const [only = '', ...others] = values
    res.setHeader(name, others.length === 0 ? only : values)
  }
}

/** In place of the fields `old`. */
export function replaceFields(res: ServerResponse, old: HeaderList, headers: HeaderList): void {
  const kept = new Set(headers.map(([name]) => name))
  for (const [name] of old) if (!kept.has(name)) res.removeHeader(name)
  setHeaders(res, headers)
}

export function sendAnswer(res: ServerResponse, answer: Answer): void {
  res.statusCode = answer.status
  setHeaders(res, answer.headers)
  res.end(answer.body ?? undefined)
}

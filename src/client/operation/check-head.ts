import { isToken } from '../../protocol/token.ts'
import type { HeadV1 } from './codec.ts'

const MODES: ReadonlySet<unknown> = new Set([undefined, 'omit', 'same-origin', 'include'])
const EFFECTS: ReadonlySet<unknown> = new Set(['none', 'unknown', 'applied'])

/** Is this what a record's head holds? What is not must be set aside before anything is sent of it. */
export function isHead(value: unknown): value is HeadV1 {
  if (!isObject(value)) return false
  const head = value as Partial<Record<keyof HeadV1, unknown>>
  return isRequest(head) && isHistory(head) && (head.response === undefined || isAnswer(head.response))
}

type Fields = Partial<Record<keyof HeadV1, unknown>>

function isRequest(head: Fields): boolean {
  const { method, url, headers, withheld = [], credentialsMode, fingerprint, session = '' } = head
  const listed = isHeaderList(headers) && Array.isArray(withheld) && withheld.every(isText)
  const addressed = isToken(method) && isText(url) && isHttp(url)
  return addressed && listed && MODES.has(credentialsMode) && isText(fingerprint) && isText(session)
}

/** No other kind of URL is ever accepted for an operation. */
function isHttp(url: string): boolean {
  return /^https?:/i.test(url) && URL.canParse(url)
}

function isHistory(head: Fields): boolean {
  const { acceptedAt, horizonAt, attemptCount, fruitlessRuns, deaths } = head
  const counted = [acceptedAt, horizonAt, attemptCount, fruitlessRuns, deaths].every(Number.isFinite)
  return counted && Array.isArray(head.attempts) && head.attempts.every(isObject) && EFFECTS.has(head.effect)
}

function isAnswer(value: unknown): boolean {
  return (
    isObject(value) &&
    'status' in value &&
    Number.isInteger(value.status) &&
    'headers' in value &&
    isHeaderList(value.headers)
  )
}

function isHeaderList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isHeader)
}

function isHeader(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

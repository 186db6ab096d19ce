import type { HeaderList } from './headers.ts'
import { headerValue } from './headers.ts'

/** RFC 9457. Extension members are kept. */
export interface ProblemDetails {
  readonly type?: string
  readonly title?: string
  readonly status?: number
  readonly detail?: string
  readonly instance?: string
  readonly [extension: string]: unknown
}

/** The stable problem types of Holdfast's own server half. */
export const PROBLEM = {
  keyMissing: 'urn:holdfast:problem:key-missing',
  keyMalformed: 'urn:holdfast:problem:key-malformed',
  keyReused: 'urn:holdfast:problem:key-reused',
  inFlight: 'urn:holdfast:problem:in-flight',
  bodyTooLarge: 'urn:holdfast:problem:body-too-large',
  outcomeUnknown: 'urn:holdfast:problem:outcome-unknown',
  windowPassed: 'urn:holdfast:problem:window-passed',
  quotaExceeded: 'urn:holdfast:problem:quota-exceeded',
  unavailable: 'urn:holdfast:problem:unavailable',
  overloaded: 'urn:holdfast:problem:overloaded',
} as const

/** The problem details of an answer, or undefined where it carries none. Never throws. */
export function readProblem(headers: HeaderList, body: Uint8Array | null): ProblemDetails | undefined {
  return readJson(/^application\/problem\+json\b/i, headers, body)
}

/** What a refusal says of itself where it does not use problem details: any JSON object. Never throws. */
export function readRefusal(headers: HeaderList, body: Uint8Array | null): ProblemDetails | undefined {
  return readJson(/^application\/(problem\+)?json\b/i, headers, body)
}

function readJson(type: RegExp, headers: HeaderList, body: Uint8Array | null): ProblemDetails | undefined {
  if (!body || !type.test(headerValue(headers, 'content-type') ?? '')) return undefined
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body))
    return isJsonObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function isJsonObject(value: unknown): value is ProblemDetails {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

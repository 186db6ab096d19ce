import { toFault } from './fault.ts'
import type { TransportFault } from './port.ts'

/** What one error of a chain of causes says about a failed attempt. */
type Judgement = Pick<TransportFault, 'code' | 'mayHaveArrived' | 'transient' | 'lasting'>

/** A chain of causes may be a circle, and a bundle may hold itself. */
const DEEPEST = 10
const WIDEST = 16
const BUNDLE_DEPTH = 4

/** No connection ever stood, whatever was being done. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_PRX_TLS',
])

/** The program's fault: the same call fails the same way, and did so before anything was sent. */
const NEVER_VALID = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_MOCK_ERR_MOCK_NOT_MATCHED',
  'ERR_INVALID_URL',
  'ERR_INVALID_ARG_TYPE',
  'ERR_INVALID_ARG_VALUE',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_INVALID_PROTOCOL',
  'ERR_UNESCAPED_CHARACTERS',
])

/** Codes that the transport reports under another name. */
const RENAMED: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'headers-overflow',
  HPE_HEADER_OVERFLOW: 'headers-overflow',
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_ABORT: 'aborted',
  ABORT_ERR: 'aborted',
}

/** Certificates are checked before the first byte of the request leaves. No attempt mends one, but an operator may. */
const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERR_TLS_CERT)/

/** Errno, undici, HTTP parser, TLS and zlib codes; no other code says anything about the network. */
const NETWORK_CODE =
  /^(E[A-Z]{3,}|EAI_|UND_|HPE_|ERR_SSL_|ERR_TLS_|ERR_HTTP2_|ERR_STREAM_|ERR__ERROR_|ERR_BROTLI|ERR_PADDING|Z_|ZSTD_)/

/** Messages of what Node's fetch refuses by itself, which has no code: the same call is refused again. */
const REFUSED_BEFORE_SENDING = new Set(['bad port', 'unknown scheme', 'request mode cannot be "same-origin"'])
const REFUSED_AFTER_ANSWER = new Set([
  'unexpected redirect',
  'redirect count exceeded',
  'URL scheme must be a HTTP(S) scheme',
  'cross origin not allowed for request mode "cors"',
  'integrity mismatch',
  'cors failure',
])

/**
 * Did any byte leave this machine, and can another attempt help? Node's errors say so by codes, in causes and in
 * bundles of errors.
 */
export function toNodeFault(error: unknown): TransportFault {
  const judgement = judgeSafely(error)
  if (!judgement) return toFault(error)
  const { code, mayHaveArrived, transient, lasting } = judgement
  if (!lasting) return { kind: 'fault', code, mayHaveArrived, transient, cause: error }
  const cause = new Error("The server's certificate can't be trusted", { cause: error })
  return { kind: 'fault', code, mayHaveArrived, transient, lasting, cause }
}

/** Anything can be thrown, also an object whose properties throw. */
function judgeSafely(error: unknown): Judgement | undefined {
  try {
    return judgeError(error, 0)
  } catch {
    return undefined
  }
}

function judgeError(error: unknown, depth: number): Judgement | undefined {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return undefined
  const { code, syscall, cause, errors, name, message } = error as Record<string, unknown>
  if (Array.isArray(errors) && errors.length > 0) return judgeAll(errors, depth)
  const own = typeof code === 'string' ? judgeCode(code, syscall) : judgeMessage(message)
  if (own) return own
  const byCause = judgeError(cause, depth + 1)
  if (byCause) return byCause
  const isAbort = name === 'AbortError' || name === 'TimeoutError'
  return isAbort ? { code: 'aborted', mayHaveArrived: true, transient: true } : undefined
}

/** One error for each address that was tried: if any of them may have arrived, the request may have. */
function judgeAll(errors: readonly unknown[], depth: number): Judgement | undefined {
  const judgements = errors.slice(0, WIDEST).map((error) => judgeError(error, depth + BUNDLE_DEPTH))
  const first = judgements.find((judgement) => judgement !== undefined)
  if (!first) return undefined
  return {
    code: first.code,
    mayHaveArrived: errors.length > WIDEST || judgements.some((judgement) => judgement?.mayHaveArrived ?? true),
    transient: judgements.some((judgement) => judgement?.transient ?? true),
    lasting: judgements.every((judgement) => judgement?.lasting),
  }
}

function judgeMessage(message: unknown): Judgement | undefined {
  if (typeof message !== 'string') return undefined
  if (REFUSED_BEFORE_SENDING.has(message)) return { code: 'refused-by-fetch', mayHaveArrived: false, transient: false }
  if (REFUSED_AFTER_ANSWER.has(message)) return { code: 'refused-by-fetch', mayHaveArrived: true, transient: false }
  return undefined
}

/** `syscall` is what Node was doing; `connect` and `getaddrinfo` come before any byte. */
function judgeCode(code: string, syscall: unknown): Judgement | undefined {
  if (NEVER_VALID.has(code)) return { code, mayHaveArrived: false, transient: false }
  // A body that is not as long as its caller said: that may show after a part of it has left.
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') return { code, mayHaveArrived: true, transient: false }
  if (CERTIFICATE.test(code)) return { code, mayHaveArrived: false, transient: false, lasting: true }
  const renamed = RENAMED[code]
  if (renamed !== undefined) return { code: renamed, mayHaveArrived: true, transient: true }
  if (!NETWORK_CODE.test(code)) return undefined
  const connecting = NEVER_CONNECTED.has(code) || syscall === 'connect' || syscall === 'getaddrinfo'
  return { code, mayHaveArrived: !connecting, transient: true }
}

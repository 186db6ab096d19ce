/** What a code says about a failed attempt. */
export interface Judgement {
  readonly code: string
  readonly mayHaveArrived: boolean
  readonly transient: boolean
  readonly lasting?: boolean
}

/** Looks at one error of a chain of causes. */
export type JudgeCode = (code: unknown, syscall: unknown, message: unknown) => Judgement | undefined

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

/** Codes that get a word of our own. */
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

/** Errno, undici, HTTP parser, TLS and zlib codes; nothing else counts as a word about the network. */
const NETWORK_CODE =
  /^(E[A-Z]{3,}|EAI_|UND_|HPE_|ERR_SSL_|ERR_TLS_|ERR_HTTP2_|ERR_STREAM_|ERR__ERROR_|ERR_BROTLI|ERR_PADDING|Z_|ZSTD_)/

/** What Node's fetch refuses by itself has no code: the same call is refused again. */
const REFUSED_BEFORE_SENDING = new Set(['bad port', 'unknown scheme', 'request mode cannot be "same-origin"'])
const REFUSED_AFTER_ANSWER = new Set([
  'unexpected redirect',
  'redirect count exceeded',
  'URL scheme must be a HTTP(S) scheme',
  'cross origin not allowed for request mode "cors"',
  'integrity mismatch',
  'cors failure',
])

function judgeMessage(message: string): Judgement | undefined {
  if (REFUSED_BEFORE_SENDING.has(message)) return { code: 'refused-by-fetch', mayHaveArrived: false, transient: false }
  if (REFUSED_AFTER_ANSWER.has(message)) return { code: 'refused-by-fetch', mayHaveArrived: true, transient: false }
  return undefined
}

/** `syscall` is what Node was doing; `connect` and `getaddrinfo` come before any byte. */
export function judgeCode(code: unknown, syscall: unknown, message: unknown): Judgement | undefined {
  if (typeof code !== 'string') return typeof message === 'string' ? judgeMessage(message) : undefined
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

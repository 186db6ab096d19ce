import type { Clock } from '../../foundation/clock.ts'
import type { Encryption } from '../../foundation/encryption.ts'
import type { Random } from '../../foundation/random.ts'
import type { Observer, Telemetry } from '../../observe/port.ts'
import type { Redactor } from '../../observe/redact.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { BreakerLimits, RequestLimits } from '../gate/gate-limits.ts'
import type { OriginStates } from '../gate/retry-budget.ts'
import type { Journal } from '../journal/port.ts'
import type { CredentialsMode } from '../operation/record.ts'
import type {
  CallOptions,
  ClientOptions,
  DispatcherLike,
  FetchLike,
  HeadersFunction,
  HonoursKeys,
  Jitter,
  RetryContext,
} from '../options.ts'

/** Every duration in milliseconds, every default filled in, frozen. */
export interface ResolvedRetry {
  readonly jitter: Jitter
  readonly baseMs: number
  readonly capMs: number
  readonly maxAttempts: number
  /** Delays that the caller has set stand as they are; ours are spread while nothing succeeds. */
  readonly spreads: boolean
  readonly statuses: ReadonlySet<number>
  readonly shouldRetry: ((context: RetryContext) => boolean | undefined) | undefined
}

/** Header names in lower case; undefined = switched off. */
export interface ResolvedDoNotRetry {
  readonly stop: readonly string[]
  readonly shouldRetry: readonly string[]
  readonly pushback: readonly string[]
  readonly send: string | undefined
  readonly attempt: string | undefined
  readonly timeout: string | undefined
  readonly firstSent: string | undefined
}

/** What may differ per call. */
export interface ResolvedCall {
  readonly retry: ResolvedRetry
  readonly deadlineMs: number
  readonly attemptTimeoutMs: number
  readonly onGiveUp: 'fail' | 'keep'
  readonly accept: ClientOptions['accept']
}

export interface ResolvedOptions extends ResolvedCall {
  /** For `client.fetch`: as for any call, but without a time limit that the client was not given. */
  readonly dropInCall: ResolvedCall
  readonly baseUrl: URL | undefined
  readonly honoursKeys: HonoursKeys | undefined
  /** No base was given, so a resume sends operations to any origin. */
  readonly anyOrigin: boolean
  readonly headers: HeaderList | HeadersFunction | undefined
  readonly credentials: CredentialsMode | undefined
  readonly session: (() => string) | undefined
  /** Undefined: by method. */
  readonly durable: boolean | undefined
  readonly trustedOrigins: ReadonlySet<string>
  /** Knows what is a credential, `credentialNames` included. */
  readonly redactor: Redactor
  /** 'platform' = the default of this platform. */
  readonly journal: Journal | 'platform' | 'platform-or-memory' | false
  readonly namespace: string
  readonly dedupWindowMs: number
  readonly horizonMs: number
  readonly retentionMs: number
  readonly budget: OriginStates
  readonly breaker: BreakerLimits | false
  readonly requestLimits: RequestLimits
  readonly doNotRetry: ResolvedDoNotRetry
  readonly keyHeader: { readonly name: string; readonly format: 'bare' | 'structured' }
  readonly maxBodyBytes: number
  readonly maxResponseBytes: number
  readonly maxReadBytes: number
  readonly fetch: FetchLike | undefined
  readonly dispatcher: DispatcherLike | undefined
  readonly observe: Observer | undefined
  readonly telemetry: Telemetry | undefined
  readonly encryption: Encryption | undefined
  readonly reconcile: ClientOptions['reconcile']
  readonly clock: Clock
  readonly random: Random
}

/** The names that a call takes, for checking. */
export type CallOptionName = keyof CallOptions

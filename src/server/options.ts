import type { Clock } from '../foundation/clock.ts'
import type { Duration } from '../foundation/duration.ts'
import type { ObserveLedger } from './guard/event.ts'
import type { Authorize, ShapeRefusal } from './guard/guard-options.ts'
import type { ProtectOptions } from './guard/protect-options.ts'
import type { LedgerStore } from './ledger/port.ts'

export interface LedgerOptions<Tx = unknown, Returned = unknown, Native = Request> extends ProtectOptions {
  /** `sqliteLedger(…)`, `postgresLedger(…)` or, for tests, `memoryLedger()`. */
  readonly store: LedgerStore<Tx, Returned>
  /**
   * Whose key it is: the tenant, account or caller. Two scopes never see each other's keys. `'public'` has to be said
   * on purpose.
   *
   * @example scope: (request) => accountOf(request.headers.get('authorization'))
   */
  readonly scope: string | ((request: Native) => string | Promise<string>)
  /** Runs before anything is looked up; an answer (a 401, a 403) is sent instead. */
  readonly authorize?: Authorize<Native> | undefined
  /**
   * Says a refusal in the words of your API. Status, `Retry-After` and `Link` stay unless the reply names them; a status
   * below 400 is not taken. Synchronous. Default: the problem as RFC 9457 has it.
   *
   * @example refusal: ({ detail }) => json({ error: { type: 'idempotency_error', message: detail } })
   */
  readonly refusal?: ShapeRefusal<Native> | undefined
  /**
   * Where your problems are explained: refusals link to this and the end of their type, as
   * `Link: <https://docs.example.com/problems/key-reused>; rel="describedby"`. Default: no link.
   *
   * @example documentation: 'https://docs.example.com/problems/'
   */
  readonly documentation?: string | undefined
  /** For how long a key is remembered; told to the client with each answer. Default `'24h'`. */
  readonly retention?: Duration | undefined
  /** How long a silent handler keeps its claim; renewed while it runs. Default `'60s'`. */
  readonly lease?: Duration | undefined
  /** When the handler's signal aborts. Shorter than `lease`. Default: never, as long as it runs. */
  readonly timeout?: Duration | undefined
  /** A duplicate of a request in flight is refused with 409, or waits for the first one's answer. Default `'reject'`. */
  readonly inFlight?: 'reject' | 'wait' | undefined
  /** With `inFlight: 'wait'`: for how long. Default `'10s'`. */
  readonly waitFor?: Duration | undefined
  /** A POST or PATCH without a key is refused with 400. Default `true`. */
  readonly required?: boolean | undefined
  /** What is protected. Default POST, PATCH, PUT, DELETE. */
  readonly methods?: readonly string[] | undefined
  /** Default `Idempotency-Key`. */
  readonly keyHeader?: string | undefined
  /** Keep 5xx answers too, as the final word. 401, 407, 408, 425 and 429 never are. Default `false`. */
  readonly store5xx?: boolean | undefined
  /** A larger answer is sent but kept without its body. Default 1 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** A larger request is refused with 413. Default 10 MiB. */
  readonly maxRequestBytes?: number | undefined
  /** Response headers that are not kept for replays, beside cookies, credentials, dates and hop-by-hop fields. */
  readonly dropHeaders?: readonly string[] | undefined
  /** A store that takes longer to answer counts as down: 503. Default `'5s'`. */
  readonly storeTimeout?: Duration | undefined
  /** Told of everything that happens; can't break a request. */
  readonly observe?: ObserveLedger | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

import { ConfigurationError } from '../errors/classes.ts'
import type { Digest } from '../foundation/digest.ts'
import type { InboundContext } from '../foundation/inbound-context.ts'
import { strictest } from '../protocol/call-limits.ts'
import { answerOf } from './answer.ts'
import { type CallContext, checkContext } from './call-context.ts'
import type {
  Client,
  FoundOperation,
  OperationsQuery,
  ResumeOptions,
  RetryCallOptions,
  SettlementHandlerOf,
} from './client.ts'
import { clientFetch } from './client-fetch.ts'
import { closedError } from './engine/early-exit.ts'
import type { EngineContext } from './engine/engine-context.ts'
import { closeEngine, flushEngine, forgetAll } from './engine/engine-lifecycle.ts'
import type { SettlementHandler } from './engine/handlers.ts'
import type { LiveOperation } from './engine/live-operation.ts'
import { type ResumeReport, resumeOnce } from './engine/resume.ts'
import { awaitFinish, cancelStored, listStored } from './engine/stored-operations.ts'
import { watch } from './engine/watch.ts'
import type { OperationRecord } from './operation/record.ts'
import { type OperationView, viewOf } from './operation/view.ts'
import { type HandleSource, OperationHandle } from './operation-handle.ts'
import type { CallOptions, FetchLike } from './options.ts'
import { prepareOperation } from './prepare-operation.ts'
import { type PreparedOperation, partsOf } from './prepared-operation.ts'
import { readQuery, readResume, readRetry } from './read-queries.ts'
import { type CallSettings, type KeyReservations, startCall, startFetch } from './start-call.ts'
import { startRetry } from './start-retry.ts'

/** What all views of one client share. */
export interface ClientCore {
  readonly engine: EngineContext
  readonly digest: Digest
  readonly reservations: KeyReservations
  /** Aborts when the client closes. */
  readonly closing: AbortController
  readonly closeJournal: () => Promise<void>
  /** What the request that is just being served asks, where requests are served. */
  readonly inboundContext: (() => InboundContext | undefined) | undefined
}

export class HoldfastClient implements Client {
  readonly #core: ClientCore
  readonly #context: CallContext
  readonly #settings: CallSettings
  readonly fetch: FetchLike

  constructor(core: ClientCore, context: CallContext = {}) {
    this.#core = core
    this.#context = context
    const { engine, digest, reservations, closing, inboundContext } = core
    this.#settings = {
      engine,
      digest,
      reservations,
      closing: closing.signal,
      get context() {
        const served = inboundContext?.()
        return served ? strictest(context, served) : context
      },
    }
    this.fetch = clientFetch((call) => startFetch(this.#settings, call), engine.options)
  }

  request(method: string, url: string | URL, options: CallOptions = {}): OperationHandle {
    return new OperationHandle(startCall(this.#settings, { method, url, redirect: 'follow' }, options))
  }

  get(url: string | URL, options?: CallOptions): OperationHandle {
    return this.request('GET', url, options)
  }

  head(url: string | URL, options?: CallOptions): OperationHandle {
    return this.request('HEAD', url, options)
  }

  options(url: string | URL, options?: CallOptions): OperationHandle {
    return this.request('OPTIONS', url, options)
  }

  post(url: string | URL, options?: CallOptions): OperationHandle {
    return this.request('POST', url, options)
  }

  put(url: string | URL, options?: CallOptions): OperationHandle {
    return this.request('PUT', url, options)
  }

  patch(url: string | URL, options?: CallOptions): OperationHandle {
    return this.request('PATCH', url, options)
  }

  delete(url: string | URL, options?: CallOptions): OperationHandle {
    return this.request('DELETE', url, options)
  }

  with(context: CallContext): Client {
    return new HoldfastClient(this.#core, strictest(this.#context, checkContext(context)))
  }

  async resume(options?: ResumeOptions): Promise<ResumeReport> {
    const { engine, closing } = this.#core
    const { continuous, concurrency, signal: given } = readResume(options)
    if (closing.signal.aborted) throw closedError()
    const signal = given ? AbortSignal.any([given, closing.signal]) : closing.signal
    const pass = continuous ? watch : resumeOnce
    engine.housekeeping.attended = true
    const resumed = engine.outside(() => pass(engine, concurrency, signal))
    engine.passes.add(resumed)
    return resumed
  }

  onSettled<Metadata>(name: string, handler: SettlementHandlerOf<Metadata>): () => void {
    if (typeof name !== 'string' || name === '' || typeof handler !== 'function') {
      throw new ConfigurationError("onSettled takes a name (or '*') and a function")
    }
    return this.#core.engine.handlers.add(name, handler as SettlementHandler)
  }

  async operation(keyOrId: string): Promise<FoundOperation | undefined> {
    const { engine } = this.#core
    const live = engine.live.find(keyOrId)
    if (live?.onRecord) {
      // Only the journal knows whether its id or key is new, or whose operation it joins.
      await live.onRecord.catch(() => {})
      return this.operation(keyOrId)
    }
    await engine.keeper.open()
    const record = await engine.keeper.read(engine.options.namespace, keyOrId)
    // What another runner has, or has taken after a freeze or a stay in the back/forward cache, only the journal knows.
    const isOurs = record?.lease?.owner === engine.coordination.owner && record.epoch === live?.fence.epoch
    const newest = record && !isOurs ? record : live?.record
    return newest && this.#found(newest, live)
  }

  #found(record: OperationRecord, live?: LiveOperation): FoundOperation {
    const { engine } = this.#core
    // Waiting begins when somebody asks for the result, not with the look-up.
    let answer: HandleSource['answer'] | undefined
    const source: HandleSource = {
      lazy: true,
      key: () => record.key,
      id: record.id,
      accepted: Promise.resolve(engine.keeper.level),
      get answer() {
        answer ??= awaitFinish(engine, record, live).then(answerOf)
        return answer
      },
      cancel: async () => void (await cancelStored(engine, record.key)),
    }
    return { ...viewOf(record), result: new OperationHandle(source) }
  }

  operations(query?: OperationsQuery): AsyncIterableIterator<OperationView> {
    return listStored(this.#core.engine, readQuery(query))
  }

  retry(keyOrId: string, options?: RetryCallOptions): OperationHandle {
    const call = this.#core.engine.options
    const { signal, deadline: deadlineMs = call.deadlineMs } = readRetry(options)
    const { onGiveUp: giveUp } = call
    return new OperationHandle(
      startRetry(this.#settings, keyOrId, { call, deadlineMs, signal, giveUp, credentials: undefined }),
    )
  }

  cancel(keyOrId: string): Promise<boolean> {
    return cancelStored(this.#core.engine, keyOrId)
  }

  forget(): Promise<number> {
    return forgetAll(this.#core.engine)
  }

  budget(origin: string): number {
    const { options, clock } = this.#core.engine
    if (!URL.canParse(origin))
      throw new ConfigurationError('budget: an origin such as https://api.example.com is needed')
    return options.budget.level(new URL(origin).origin, clock.now())
  }

  prepare(method: string, url: string | URL, options: CallOptions = {}): Promise<PreparedOperation> {
    return prepareOperation(this.#settings, { method, url, redirect: 'follow' }, options)
  }

  send(prepared: PreparedOperation): OperationHandle {
    const { credentials, call, options, record, persisted } = partsOf(prepared)
    if (persisted) {
      // What was promised in a transaction is carried on, whether or not somebody waits for it.
      const giveUp = options.onGiveUp ?? 'keep'
      return new OperationHandle(
        startRetry(this.#settings, prepared.key, {
          call,
          deadlineMs: call.deadlineMs,
          signal: options.signal,
          giveUp,
          credentials,
          preparedAt: isFreshlyKeyed(options) ? record.acceptedAt : undefined,
        }),
      )
    }
    const { method, body, headers } = record.request
    const sent = {
      durable: true,
      body: body ?? undefined,
      json: undefined,
      headers: [...headers, ...credentials.headers],
    }
    return this.request(method, credentials.url, { ...options, ...sent, searchParams: undefined, key: record.key })
  }

  flush(): Promise<void> {
    return flushEngine(this.#core.engine)
  }

  async close(): Promise<void> {
    const { engine, closing, closeJournal } = this.#core
    closing.abort()
    await closeEngine(engine)
    await closeJournal()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Is the key of what was prepared certainly one that was made for it? */
function isFreshlyKeyed({ key, headers }: CallOptions): boolean {
  return key === undefined && headers === undefined
}

import { ConfigurationError } from '../errors/classes.ts'
import { onAbort } from '../foundation/abort.ts'
import type { InboundContext } from '../foundation/inbound-context.ts'
import { strictest } from '../protocol/call-limits.ts'
import { type CallContext, checkContext } from './call-context.ts'
import type {
  Client,
  CloseOptions,
  DeadLettersQuery,
  FoundOperation,
  OperationsQuery,
  ResumeOptions,
  RetryCallOptions,
  SettlementHandlerOf,
} from './client.ts'
import { clientFetch } from './client-fetch.ts'
import { answerOf, type HandleSource } from './engine/call/caller.ts'
import type { Engine } from './engine/engine.ts'
import { listDeadLetters } from './engine/recover/dead-letters.ts'
import type { SettlementHandler } from './engine/recover/deliver.ts'
import { resumeOnce } from './engine/recover/resume-once.ts'
import type { ResumeReport } from './engine/recover/resume-report.ts'
import { awaitFinish, cancelStored, type Found, findOperation, listStored } from './engine/recover/stored-operations.ts'
import { closeEngine, flushEngine, forgetAll } from './engine/recover/upkeep.ts'
import { watch } from './engine/recover/watch.ts'
import type { OriginView } from './gate/origin-view.ts'
import type { DeadLetter } from './operation/dead-letter.ts'
import { clientClosed } from './operation/outcome.ts'
import { type OperationView, viewOf } from './operation/view.ts'
import { OperationHandle } from './operation-handle.ts'
import type { CallOptions, FetchLike } from './options.ts'
import { prepareOperation } from './prepare-operation.ts'
import { hasEnded, type PreparedOperation, type PreparedParts, partsOf } from './prepared-operation.ts'
import { readClose, readDeadLetters, readQuery, readResume, readRetry } from './read-queries.ts'
import { resolveUrl } from './request-input.ts'
import { type CallSettings, startCall, startFetch, startRetry } from './start-call.ts'

/** What all views of one client share. */
export interface ClientCore {
  readonly engine: Engine
  readonly closing: AbortController
  readonly closeJournal: () => Promise<void>
  /** Passes of a resume; `close` waits for them. */
  readonly passes: Set<Promise<unknown>>
  /** What the request that is just being served asks, where requests are served. */
  readonly inboundContext: (() => InboundContext | undefined) | undefined
  /** Runs work outside of the limits of the request that is being served. */
  readonly outside: <T>(work: () => T) => T
}

export class HoldfastClient implements Client {
  readonly #core: ClientCore
  readonly #context: CallContext
  readonly #settings: CallSettings
  readonly fetch: FetchLike

  constructor(core: ClientCore, context: CallContext = {}) {
    this.#core = core
    this.#context = context
    const { engine, inboundContext } = core
    this.#settings = {
      engine,
      get context() {
        const served = inboundContext?.()
        return served ? strictest(context, served) : context
      },
    }
    this.fetch = clientFetch((call) => startFetch(this.#settings, call), engine.options)
  }

  /** For the inspector, which shows records and origins as they are. Undefined: another copy of the package made it. */
  static coreOf(client: Client): ClientCore | undefined {
    return #core in client ? client.#core : undefined
  }

  request(method: string, url: string | URL, options?: CallOptions): OperationHandle {
    return new OperationHandle(startCall(this.#settings, { method, url }, options))
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
    const { engine, closing, passes, outside } = this.#core
    const { continuous, concurrency, signal: given } = readResume(options)
    if (closing.signal.aborted) throw clientClosed()
    const ended = new AbortController()
    // Not AbortSignal.any: it may be collected before the signal of a timeout that nobody else holds.
    const stops = [given, closing.signal].map((signal) => onAbort(signal, () => ended.abort()))
    engine.upkeep.isAttended = true
    const pass = outside(() => (continuous ? watch : resumeOnce)(engine, concurrency, ended.signal))
    passes.add(pass)
    return pass.finally(() => {
      passes.delete(pass)
      for (const stop of stops) stop()
    })
  }

  onSettled<Metadata>(name: string, handler: SettlementHandlerOf<Metadata>): () => void {
    if (typeof name !== 'string' || name === '' || typeof handler !== 'function') {
      throw new ConfigurationError("onSettled takes a name (or '*') and a function")
    }
    return this.#core.engine.handlers.add(name, handler as SettlementHandler)
  }

  async operation(keyOrId: string): Promise<FoundOperation | undefined> {
    const { engine } = this.#core
    const found = await findOperation(engine, keyOrId)
    return found && { ...viewOf(found.record, engine.clock.now()), result: new OperationHandle(this.#resultOf(found)) }
  }

  /** Waiting begins when the result is asked for, not with the look-up. */
  #resultOf(found: Found): HandleSource {
    const { engine } = this.#core
    const { key, id } = found.record
    let answer: HandleSource['answer'] | undefined
    return {
      isLazy: true,
      key,
      id,
      maxReadBytes: engine.options.maxReadBytes,
      get accepted() {
        return Promise.resolve(engine.keeper.level)
      },
      get answer() {
        answer ??= awaitFinish(engine, found).then((finish) => answerOf(finish))
        return answer
      },
      cancel: async () => void (await cancelStored(engine, key)),
    }
  }

  operations(query?: OperationsQuery): AsyncIterableIterator<OperationView> {
    return listStored(this.#core.engine, readQuery(query))
  }

  deadLetters(query?: DeadLettersQuery): AsyncIterableIterator<DeadLetter> {
    return listDeadLetters(this.#core.engine, readDeadLetters(query))
  }

  retry(keyOrId: string, options?: RetryCallOptions): OperationHandle {
    const { options: client } = this.#core.engine
    const { signal, deadline: deadlineMs = client.deadlineMs } = readRetry(options)
    const limits = { ...client, deadlineMs }
    return new OperationHandle(startRetry(this.#settings, { keyOrId, limits, signal, credentials: undefined }))
  }

  cancel(keyOrId: string): Promise<boolean> {
    return cancelStored(this.#core.engine, keyOrId)
  }

  forget(): Promise<number> {
    return forgetAll(this.#core.engine)
  }

  origin(url: string | URL): OriginView {
    const { options, gates } = this.#core.engine
    return gates.view(resolveUrl(url, options.baseUrl).origin)
  }

  budget(origin: string): number {
    const { options, clock } = this.#core.engine
    if (!URL.canParse(origin))
      throw new ConfigurationError('budget: an origin such as https://api.example.com is needed')
    return options.budget.level(new URL(origin).origin, clock.now())
  }

  prepare(method: string, url: string | URL, options: CallOptions = {}): Promise<PreparedOperation> {
    return prepareOperation(this.#core.engine, { method, url }, options)
  }

  send(prepared: PreparedOperation): OperationHandle {
    const parts = partsOf(prepared)
    const { credentials, limits, options, record } = parts
    if (parts.persistedIn.length > 0) {
      const { acceptedAt: preparedAt, horizonAt } = record
      const retry = {
        keyOrId: prepared.key,
        limits,
        signal: options.signal,
        credentials,
        outbox: { preparedAt, horizonAt, hasEnded: this.#hasLooked(parts) && hasEnded(parts) },
      }
      return new OperationHandle(startRetry(this.#settings, retry))
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

  /** Would this client find what was prepared? It may be in another journal, or under the key of an earlier operation. */
  #hasLooked({ keeper, options: { key, headers } }: PreparedParts): boolean {
    return keeper === this.#core.engine.keeper && key === undefined && headers === undefined
  }

  flush(): Promise<void> {
    return flushEngine(this.#core.engine)
  }

  async close(options?: CloseOptions): Promise<void> {
    const { engine, closing, closeJournal, passes } = this.#core
    const { grace: graceMs } = readClose(options)
    closing.abort()
    await closeEngine(engine, { graceMs, passes: Promise.allSettled(passes) })
    await closeJournal()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

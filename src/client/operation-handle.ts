import { BodyError, IndeterminateError } from '../errors/classes.ts'
import { type StoredResponse, toResponse } from '../protocol/stored-message.ts'
import type { DurabilityLevel } from './journal/port.ts'
import { Observation } from './observed-promise.ts'

/** A final answer, before anybody asked for it as a `Response`. */
export interface Answer {
  readonly response: StoredResponse
  /** The body where it was too large to hold. Can be taken once. */
  readonly rest: ReadableStream<Uint8Array> | undefined
}

/** What a handle needs from the client. */
export interface HandleSource {
  readonly key: () => string
  readonly id: string | undefined
  readonly accepted: Promise<DurabilityLevel>
  readonly answer: Promise<Answer>
  readonly cancel: () => Promise<void>
  /** The answer is waited for only once somebody asks; until then nobody needs to be told of a failure. */
  readonly lazy?: boolean
}

/**
 * What a call returns: a promise of a `Response` that also knows its key, when its record was durable,
 * and how to read the answer. It rejects on a final answer other than 2xx.
 */
export class OperationHandle implements Promise<Response> {
  readonly [Symbol.toStringTag] = 'OperationHandle'
  readonly #source: HandleSource
  readonly #observation = new Observation()
  #response: Promise<Response> | undefined
  #bytes: Promise<Uint8Array> | undefined

  constructor(source: HandleSource) {
    this.#source = source
    source.accepted.catch(() => {})
    if (!source.lazy) source.answer.catch((error: unknown) => this.#observation.fail(error))
  }

  /** The idempotency key, at once. */
  get key(): string {
    return this.#source.key()
  }

  get id(): string | undefined {
    return this.#source.id
  }

  /** Resolves when the record is durable, with the level reached. */
  get accepted(): Promise<DurabilityLevel> {
    return this.#observation.watch(this.#source.accepted)
  }

  /** The answer's body, parsed. */
  json<T = unknown>(): Promise<T> {
    return this.#read(async (answer) => {
      const text = new TextDecoder().decode(await this.#bytesOf(answer))
      try {
        return JSON.parse(text) as T
      } catch (cause) {
        throw new BodyError(`The answer (status ${answer.response.status}) is not valid JSON`, {
          code: 'HOLDFAST_INVALID_JSON',
          cause,
          operation: { key: this.key, id: this.id },
        })
      }
    })
  }

  text(): Promise<string> {
    return this.#read(async (answer) => new TextDecoder().decode(await this.#bytesOf(answer)))
  }

  bytes(): Promise<Uint8Array> {
    return this.#read(async (answer) => (await this.#bytesOf(answer)).slice())
  }

  /** Sends nothing more and settles the operation as `cancelled`, for everybody who waits for it. */
  cancel(): Promise<void> {
    // Whoever cancels knows that it will not succeed.
    this.#observation.observe()
    return this.#source.cancel()
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise
  then<A = Response, B = never>(
    onFulfilled?: ((value: Response) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#asResponse().then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Response | B> {
    return this.#asResponse().catch(onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<Response> {
    return this.#asResponse().finally(onFinally)
  }

  #asResponse(): Promise<Response> {
    this.#observation.observe()
    this.#response ??= this.#source.answer.then(({ response, rest }) => toResponse(response, rest))
    return this.#response
  }

  #read<T>(read: (answer: Answer) => Promise<T>): Promise<T> {
    return this.#observation.watch(this.#source.answer.then(read))
  }
  /** A body that was too large to hold can be taken once; all readers share what it gave. */
  #bytesOf({ response, rest }: Answer): Promise<Uint8Array> {
    this.#bytes ??= rest
      ? new Response(rest).arrayBuffer().then((buffer) => new Uint8Array(buffer), this.#lost)
      : Promise.resolve(response.body ?? new Uint8Array())
    return this.#bytes
  }

  readonly #lost = (cause: unknown): never => {
    throw new IndeterminateError('It was done, but its answer did not arrive whole', {
      effect: 'applied',
      reason: 'network',
      cause,
      operation: { key: this.key, id: this.id },
    })
  }
}

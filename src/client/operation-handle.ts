import { BodyError, IndeterminateError } from '../errors/classes.ts'
import type { CodesOf } from '../errors/codes.ts'
import { readChunksUpTo } from '../foundation/join-chunks.ts'
import { isBodyOmitted } from '../protocol/header-names.ts'
import { isResponse, toResponse } from '../protocol/stored-message.ts'
import { CallSite } from './call-site.ts'
import type { Answer, HandleSource } from './engine/call/caller.ts'
import type { DurabilityLevel } from './journal/port.ts'

/** One for all: making one costs more than decoding a small answer. */
const decoder = new TextDecoder()

/**
 * What a call returns: a promise of a `Response` that also knows its key, when its record was durable,
 * and how to read the answer. It rejects on a final answer other than 2xx.
 */
export class OperationHandle implements Promise<Response> {
  readonly [Symbol.toStringTag] = 'OperationHandle'
  readonly #source: HandleSource
  readonly #site = new CallSite()
  #isObserved = false
  #unnoticed: Promise<never> | undefined
  #response: Promise<Response> | undefined
  #bytes: Uint8Array | Promise<Uint8Array> | undefined

  constructor(source: HandleSource) {
    this.#source = source
    if (!source.isLazy) source.answer.catch((error: unknown) => this.#fail(error))
  }

  /** The idempotency key, at once. */
  get key(): string {
    return this.#source.key
  }

  get id(): string | undefined {
    return this.#source.id
  }

  /** Resolves when the record is durable, with the level reached. */
  get accepted(): Promise<DurabilityLevel> {
    return new ObservedPromise(this.#site, () => {
      this.#observe()
      return this.#source.accepted.catch(this.#site.rethrow)
    })
  }

  /** The answer's body, parsed; `undefined` where a success has none, as a 204. */
  json<T = unknown>(): Promise<T> {
    return this.#read((bytes, answer) => {
      if (bytes.length === 0) return undefined as T
      try {
        return JSON.parse(decoder.decode(bytes)) as T
      } catch (cause) {
        const message = `It was done, but its answer (status ${answer.response.status}) is not valid JSON`
        throw unreadableAnswer(answer, message, { code: 'HOLDFAST_INVALID_JSON', body: bytes, cause })
      }
    })
  }

  text(): Promise<string> {
    return this.#read((bytes) => decoder.decode(bytes))
  }

  bytes(): Promise<Uint8Array> {
    return this.#read((bytes) => bytes.slice())
  }

  /** Sends nothing more and settles the operation as `cancelled`, for every caller that waits for it. */
  cancel(): Promise<void> {
    // A caller that cancels knows that it will not succeed.
    this.#observe()
    return this.#source.cancel()
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise
  then<A = Response, B = never>(
    onFulfilled?: ((value: Response) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#site.capture(this.then)
    return this.#asResponse().then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Response | B> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<Response> {
    return this.then().finally(onFinally)
  }

  #asResponse(): Promise<Response> {
    this.#observe()
    this.#response ??= this.#source.answer.then(
      (answer) => toResponse(answer.response, restOf(answer, this.#source.signal)),
      this.#site.rethrow,
    )
    return this.#response
  }

  #read<T>(parse: (bytes: Uint8Array, answer: Answer) => T): Promise<T> {
    return new ObservedPromise(this.#site, () => {
      this.#observe()
      return this.#source.answer
        .then((answer) => {
          // A body that was too large to hold can be taken once; all readers share what it gave.
          this.#bytes ??= bytesOf(answer, this.#source.maxReadBytes)
          const bytes = this.#bytes
          return bytes instanceof Promise ? bytes.then((read) => parse(read, answer)) : parse(bytes, answer)
        })
        .catch(this.#site.rethrow)
    })
  }

  /*
   * The promises of one operation belong together: where one of them is handled, none of the others may
   * raise an unhandled rejection; where none is, exactly one must, so that no failure goes unnoticed.
   */

  #observe(): void {
    this.#isObserved = true
    this.#unnoticed?.catch(() => {})
  }

  /** If none of the promises is handled, the platform reports this one. */
  #fail(error: unknown): void {
    if (!this.#isObserved) this.#unnoticed ??= Promise.reject(error)
  }
}

function bytesOf(answer: Answer, limit: number): Uint8Array | Promise<Uint8Array> {
  const { response, rest } = answer
  if (!rest && !response.body && (response.bodyOmitted || isBodyOmitted(response.headers))) {
    const message = 'It was done, but its recorded answer has no body: larger than maxResponseBytes'
    throw unreadableAnswer(answer, message, { code: 'HOLDFAST_BODY_OMITTED', body: null })
  }
  if (!rest) return within(answer, limit, response.body ?? new Uint8Array())
  return readUpTo(limit, isResponse(rest) ? rest.body : rest).then(
    (whole) => within(answer, limit, whole),
    (cause: unknown) => {
      throw cutOff(answer, cause)
    },
  )
}

/** For a `Response`: a stream that fails with our error. It locks the rest only when it is read, as other readers may be first. */
function restOf(answer: Answer, signal: AbortSignal | undefined): Answer['rest'] {
  const { rest } = answer
  if (!rest || isResponse(rest)) return rest
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          reader ??= rest.getReader()
          const { value } = await reader.read()
          if (value) controller.enqueue(value)
          else controller.close()
        } catch (cause) {
          // The caller's own abort has its own reason, as fetch has it.
          controller.error(signal?.aborted ? cause : cutOff(answer, cause))
        }
      },
      cancel: (reason) => (reader ?? rest).cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function cutOff({ operation, attempts }: Answer, cause: unknown): IndeterminateError {
  const message = 'It was done, but its answer was cut off'
  const isLate = cause instanceof Error && cause.name === 'TimeoutError'
  const reason = isLate ? 'deadline' : 'network'
  return new IndeterminateError(message, { effect: 'applied', reason, cause, operation, attempts })
}

/** Undefined: there is more than that. Compressed, an answer of a few hundred kilobytes can fill the memory. */
async function readUpTo(limit: number, body: ReadableStream<Uint8Array> | null): Promise<Uint8Array | undefined> {
  if (!body) return new Uint8Array()
  const reader = body.getReader()
  const { whole } = await readChunksUpTo(limit, reader, undefined)
  if (!whole) reader.cancel().catch(() => {})
  return whole
}

function within(answer: Answer, limit: number, bytes: Uint8Array | undefined): Uint8Array {
  if (bytes && bytes.length <= limit) return bytes
  const message = `It was done, but its answer is larger than maxReadBytes (${limit} bytes); its Response has it as a stream`
  throw unreadableAnswer(answer, message, { code: 'HOLDFAST_BODY_TOO_LARGE', body: null })
}

/** A success whose body is not what was asked for: the operation happened all the same. */
function unreadableAnswer(
  { response, operation, attempts }: Answer,
  message: string,
  {
    body,
    ...details
  }: { readonly code: CodesOf['BodyError']; readonly body: Uint8Array | null; readonly cause?: unknown },
): BodyError {
  const shown = toResponse({ ...response, body })
  return new BodyError(message, { ...details, effect: 'applied', response: shown, operation, attempts })
}

/** A promise that is made when it is first handled: until then it can't raise an unhandled rejection. */
class ObservedPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly #site: CallSite
  readonly #make: () => Promise<T>
  #promise: Promise<T> | undefined

  constructor(site: CallSite, make: () => Promise<T>) {
    this.#site = site
    this.#make = make
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#site.capture(this.then)
    this.#promise ??= this.#make()
    return this.#promise.then(onFulfilled, onRejected)
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally)
  }
}

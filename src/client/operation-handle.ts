import { BodyError, IndeterminateError } from '../errors/classes.ts'
import type { CodesOf } from '../errors/codes.ts'
import type { AttemptSummary, OperationRef } from '../errors/holdfast-error.ts'
import { isBodyOmitted } from '../protocol/header-names.ts'
import { type AnswerRest, isResponse, type StoredResponse, toResponse } from '../protocol/stored-message.ts'
import type { DurabilityLevel } from './journal/port.ts'
import { Observation } from './observed-promise.ts'

/** A final answer, before anybody asked for it as a `Response`. */
export interface Answer {
  readonly response: StoredResponse
  /** What of the answer is not held. Can be taken once. */
  readonly rest: AnswerRest | undefined
  readonly operation: OperationRef
  readonly attempts: readonly AttemptSummary[]
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

  /** The answer's body, parsed; `undefined` where a success has none, as a 204. */
  json<T = unknown>(): Promise<T> {
    return this.#read(async (answer) => {
      const bytes = await this.#bytesOf(answer)
      if (bytes.length === 0) return undefined as T
      try {
        return JSON.parse(new TextDecoder().decode(bytes)) as T
      } catch (cause) {
        const message = `It was done, but its answer (status ${answer.response.status}) is not valid JSON`
        throw unreadableAnswer(answer, message, { code: 'HOLDFAST_INVALID_JSON', body: bytes, cause })
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
  #bytesOf(answer: Answer): Promise<Uint8Array> {
    this.#bytes ??= readBytes(answer)
    return this.#bytes
  }
}

async function readBytes(answer: Answer): Promise<Uint8Array> {
  const { response, rest, operation, attempts } = answer
  if (!rest && (response.bodyOmitted || isBodyOmitted(response.headers))) {
    const message = 'It was done, but the record of its answer has no body: that was too large to keep'
    throw unreadableAnswer(answer, message, { code: 'HOLDFAST_BODY_OMITTED', body: null })
  }
  if (!rest) return response.body ?? new Uint8Array()
  try {
    return new Uint8Array(await (isResponse(rest) ? rest : new Response(rest)).arrayBuffer())
  } catch (cause) {
    const message = 'It was done, but its answer did not arrive whole'
    throw new IndeterminateError(message, { effect: 'applied', reason: 'network', cause, operation, attempts })
  }
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

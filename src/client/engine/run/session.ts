import { ConfigurationError } from '../../../errors/classes.ts'
import { type HoldfastError, isHoldfastError } from '../../../errors/holdfast-error.ts'
import { framed, hex } from '../../../foundation/digest.ts'
import { sha256 } from '../../../foundation/sha256.ts'
import type { Redactor } from '../../../observe/redact.ts'
import { operationError } from '../../operation/outcome.ts'
import { isSettled, type OperationRecord } from '../../operation/record.ts'
import type { ResolvedOptions } from '../../policy/resolved-options.ts'

/** Who is logged in, where the option `session` says so. A record has the hash of it: cookies are the browser's, not ours. */
export class Session {
  readonly #read: (() => string) | undefined
  readonly #redactor: Redactor
  #id: string | undefined
  #hash: string | undefined

  constructor({ session, redactor }: Pick<ResolvedOptions, 'session' | 'redactor'>) {
    this.#read = session
    this.#redactor = redactor
  }

  /** Of a new operation, the hash of who is logged in; undefined without the option. */
  current(): string | undefined {
    try {
      return this.#ask()
    } catch (error) {
      if (isHoldfastError(error)) throw error
      const cause = this.#redactor.error(error)
      const why = cause instanceof Error ? `: ${cause.message}` : ''
      throw new ConfigurationError(`The option \`session\` threw${why}. Nothing was written or sent for this call`, {
        cause,
      })
    }
  }

  /** Throws what the function of the option throws. */
  #ask(): string | undefined {
    if (!this.#read) return undefined
    const id: unknown = this.#read()
    if (typeof id !== 'string') throw new ConfigurationError('The option `session` must give a string')
    if (id !== this.#id) this.#hash = hex(sha256(framed(['session', id], null)))
    this.#id = id
    return this.#hash
  }

  /** Why this operation may not be sent in the session of now. One that was accepted without a session may. */
  refusal({ session }: OperationRecord): unknown {
    if (session === undefined) return undefined
    try {
      return this.#ask() === session ? undefined : new Error(OTHER_USER)
    } catch (error) {
      return error ?? new Error(OTHER_USER)
    }
  }

  /** For a call that asks for an operation of another user: it gets nothing of that user's answer, nor whether there is one. */
  errorFor(record: OperationRecord): HoldfastError | undefined {
    const cause = this.refusal(record)
    if (cause === undefined) return undefined
    const isOver = isSettled(record)
    const effect = isOver ? 'unknown' : record.effect
    const hidden = { ...record, effect, response: undefined, error: undefined, attempts: [] }
    return operationError({ record: hidden, reason: 'auth', pending: !isOver, cause })
  }
}

const OTHER_USER =
  'Another user is logged in than the one who asked for it, or this client has no option `session`: it is neither sent nor answered until that user is back'

import { ConfigurationError } from '../../errors/classes.ts'
import { contentCodings } from '../../protocol/content-coding.ts'
import type { AnswerPolicy } from '../admission/judge-answer.ts'
import type { Answer } from '../http/port.ts'
import { emit } from './events.ts'
import type { GuardOptions } from './guard-options.ts'

/** An answer of a handler, as `isFinal` gets it. */
export interface JudgedAnswer {
  readonly status: number
  readonly headers: Headers
  /** Without `Content-Encoding`'s coding. Null: there is none, or it is streamed. */
  readonly body: Uint8Array | null
  /** The body as UTF-8; empty if there is none. */
  text(): string
  /** The body as JSON; undefined if it is something else. */
  json<T = unknown>(): T | undefined
}

/** Is this answer recorded, and replayed to each retry? `undefined`: as the status says. Synchronous. */
export type IsFinal = (answer: JudgedAnswer) => boolean | undefined

type Judging = Pick<GuardOptions, 'decodeBody' | 'observe' | 'clock' | 'counters'>

/** The option `isFinal`. If it throws, or gives something else, the status decides: the work has been done by then. */
export function decideFinalBy(guard: Judging, isFinal: IsFinal): NonNullable<AnswerPolicy['decideFinal']> {
  return (answer) => {
    try {
      const decided: unknown = isFinal(judgedAnswer(guard, answer))
      if (decided === undefined || typeof decided === 'boolean') return decided
      throw new ConfigurationError('The option `isFinal` must return true, false or undefined, and no promise', {
        effect: 'unknown',
      })
    } catch (error) {
      emit(guard, { type: 'ledger.failed', error })
      return undefined
    }
  }
}

function judgedAnswer({ decodeBody }: Judging, { status, headers, body: sent }: Answer): JudgedAnswer {
  const codings = contentCodings(headers)
  const body = sent && codings.length > 0 ? (decodeBody(codings, sent) ?? sent) : sent
  const text = (): string => new TextDecoder().decode(body ?? undefined)
  return {
    status,
    headers: new Headers([...headers] as [string, string][]),
    body,
    text,
    json: () => parsed(text()),
  }
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

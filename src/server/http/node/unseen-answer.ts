import type { ServerResponse } from 'node:http'
import type { Session } from '../../guard/session.ts'
import type { Answer } from '../port.ts'
import { LateResponse } from './late-response.ts'

/** The answer of a handler that nobody sees: the session waits for it, in case that the handler is still at work. */
export class UnseenAnswer {
  readonly #session: Session
  #resolve: ((answer: Answer | undefined) => void) | undefined

  constructor(session: Session) {
    this.#session = session
  }

  get isAwaited(): boolean {
    return this.#resolve !== undefined
  }

  wait(): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** The request was answered by a timeout: what the handler gives by its response is not sent. */
  waitBehind(res: ServerResponse): Promise<Answer | undefined> {
    const response = new LateResponse(res, () => this.end(response.answer))
    return this.wait()
  }

  /** Undefined: the handler has failed. */
  end<Given extends Answer | undefined>(answer: Given): Given {
    // A failing answer may stand for an error: of an external handler it does not say that nothing was done.
    const isFailure = answer !== undefined && answer.status >= 400
    this.#resolve?.(isFailure && this.#session.isExternal ? undefined : answer)
    return answer
  }
}

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context } from 'hono'
import type { HeaderList } from '../../protocol/headers.ts'
import { isReply } from '../entry/reply.ts'
import { fetchAnswer } from './fetch-handler.ts'
import { headersOfHandler } from './handler-answer.ts'
import type { Answer } from './port.ts'

/** The context whose handlers run. Code in front of the ledger runs outside of it, also while the handlers are at work. */
const behind = new AsyncLocalStorage<Context>()

interface Given {
  readonly response: Response
  /** The handler threw this, and Hono has made the response of it. */
  readonly error: Error | undefined
}

/**
 * The response that handlers give although their request has been answered in their place, by a timeout for example. Hono
 * drops a response if its context has one already. From then on, code behind the ledger sees a context without a response,
 * and gives one; all other code sees the response that is sent.
 */
export class HonoLateResponse {
  readonly #c: Context
  readonly #limit: number
  /** The response that is sent. */
  readonly #sent: () => Response
  #isAtWork = true
  /** The error of the answer that was sent in place of the handlers'. */
  #answered: { readonly error: Error | undefined } | undefined
  /** Names of the headers that were set behind the ledger. */
  readonly #ownHeaders = new Set<string>()
  #given: Given | undefined
  #onGiven: (() => void) | undefined

  constructor(c: Context, limit: number) {
    this.#c = c
    this.#limit = limit
    this.#sent = responseOfContext(c).get
    this.#watch()
  }

  /** Runs the handlers. */
  async run(next: () => Promise<void>): Promise<void> {
    try {
      await behind.run(this.#c, next)
    } finally {
      this.#isAtWork = false
    }
  }

  /** Has somebody answered in place of the handlers? */
  get isAnswered(): boolean {
    return this.#answered !== undefined
  }

  /** What the handlers threw after that. */
  get error(): Error | undefined {
    return this.#given?.error
  }

  /** Undefined: the handlers have given no response by now. */
  async answer(): Promise<Answer | undefined> {
    if (!this.#given) return undefined
    const { response } = this.#given
    if (isReply(response)) return response
    const { answer } = await fetchAnswer(response, this.#limit)
    // The type is that of its own body.
    const type = answer.headers.filter(([name]) => name === 'content-type' && response.body !== null)
    const others = answer.headers.filter(([name]) => name !== 'content-type')
    return { ...answer, headers: [...type, ...this.ownHeaders(others)] }
  }

  /** Without those of the answer that was sent: Hono gives them to every response that it makes later. */
  ownHeaders(headers: HeaderList): HeaderList {
    if (!this.#answered) return headers
    const sent = [...this.#sent().headers].filter(([name]) => !this.#ownHeaders.has(name))
    return headersOfHandler(headers, sent)
  }

  /** The answer on the context comes from a timeout: the handlers may be at work. Resolves when they have ended. */
  async later(): Promise<Answer | undefined> {
    this.#beAnswered()
    await new Promise<void>((resolve) => {
      this.#onGiven = resolve
    })
    return this.#given?.error ? undefined : this.answer()
  }

  #beAnswered(): void {
    this.#answered ??= { error: this.#c.error }
  }

  #watch(): void {
    const c = this.#c
    const { header } = c
    const { set } = responseOfContext(c)
    let { finalized } = c
    Object.assign(c, {
      header: (...given: Parameters<typeof header>) => {
        if (behind.getStore() === c) this.#ownHeaders.add(given[0].toLowerCase())
        header(...given)
      },
    })
    Object.defineProperty(c, 'finalized', {
      configurable: true,
      get: () => (this.#isLate ? this.#given !== undefined : finalized),
      set: (value: boolean) => {
        finalized = value
      },
    })
    Object.defineProperty(c, 'res', {
      configurable: true,
      get: () => (this.#isLate && this.#given ? this.#given.response : this.#sent()),
      set: (response: Response | undefined) => {
        if (this.#isLate) return this.#give(response)
        set(response)
        if (this.#isAtWork && behind.getStore() !== c && response) this.#beAnswered()
      },
    })
  }

  get #isLate(): boolean {
    return this.#answered !== undefined && behind.getStore() === this.#c
  }

  #give(response: Response | undefined): void {
    if (!response) return
    const { error } = this.#c
    this.#given = { response, error: error === this.#answered?.error ? undefined : error }
    this.#onGiven?.()
  }
}

/** Hono's own property. */
function responseOfContext(c: Context): { get(): Response; set(response: Response | undefined): void } {
  const { get, set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(c), 'res') as PropertyDescriptor
  return { get: () => get?.call(c) as Response, set: (response) => set?.call(c, response) }
}

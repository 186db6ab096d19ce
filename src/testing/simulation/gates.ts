import type { HeaderList } from '../../protocol/headers.ts'
import type { Sent, WireAnswer } from './wire.ts'
import type { World } from './world.ts'

/** What stands before a server's handler: log-in, rate limits, load shedding. */
export class Gates {
  readonly #world: World
  readonly #known = new Map<number, WireAnswer | undefined>()

  constructor(world: World) {
    this.#world = world
  }

  /** A copy of a request is judged as the request was: it has the same credentials and the same place in the queue. */
  of({ number }: Sent): WireAnswer | undefined {
    if (!this.#known.has(number)) this.#known.set(number, this.#gate())
    return this.#known.get(number)
  }

  /** What stands before the operation: it says that this request did nothing. */
  #gate(): WireAnswer | undefined {
    const world = this.#world
    if (world.strikes('do-not-retry')) return refusingAnswer(503, [['do-not-retry', 'true']])
    if (world.strikes('unauthorized')) return refusingAnswer(401)
    if (world.strikes('busy-with-timing')) {
      const seconds = world.dice('timing').pick([1, 5, 45, 200, 2000])
      return refusingAnswer(world.dice('timing').pick([429, 503]), [['retry-after', String(seconds)]])
    }
    return world.strikes('busy')
      ? refusingAnswer(world.dice('busy').pick([500, 503, 429, 408, 425, 502, 504]))
      : undefined
  }
}

export function refusingAnswer(status: number, headers: HeaderList = []): WireAnswer {
  return { status, headers, body: '' }
}

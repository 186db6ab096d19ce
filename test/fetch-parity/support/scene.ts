import { type Answer, answerPath, type SeenRequest, type ServerEvent } from './answer.ts'
import type { Control, Places } from './parity-servers.ts'
import { pause } from './sight.ts'

export type Fetch = typeof globalThis.fetch

/** What came to be seen of a case, as plain JSON. */
export type Sight = unknown

const SOON_MS = 300

/** Stands in a sight for what the servers have seen of the requests in the end. */
export const REQUESTS = '{requests}'

/** The servers as a case can reach them. */
export interface SceneServers {
  readonly places: Places
  readonly control: Control
}

/** What one run of a case works with: a fetch to look at, and servers of its own. Runs in Node and in a page. */
export class Scene {
  readonly fetch: Fetch
  readonly places: Places
  readonly ticket: string
  readonly #control: Control

  constructor(fetch: Fetch, ticket: string, { places, control }: SceneServers) {
    this.fetch = fetch
    this.ticket = ticket
    this.places = places
    this.#control = control
  }

  /** A URL of the home server that is answered so. */
  url(answer?: Answer, name = 'thing'): string {
    return this.#at(this.places.home, answer, name)
  }

  /** The same at another origin. */
  awayUrl(answer?: Answer, name = 'thing'): string {
    return this.#at(this.places.away, answer, name)
  }

  #at(origin: string, answer: Answer | undefined, name: string): string {
    const path = `/${this.ticket}/${name}`
    return origin + (answer ? answerPath(answer, path) : path)
  }

  /** What the servers have seen so far. */
  seen(): Promise<SeenRequest[]> {
    return this.#control(this.ticket, 'seen') as Promise<SeenRequest[]>
  }

  /** Lets the server go past one `wait`. */
  async open(): Promise<void> {
    await this.#control(this.ticket, 'open')
  }

  /** The event, once the server has noted it; or `never`. */
  until(event: ServerEvent): Promise<unknown> {
    return this.#control(this.ticket, `until/${event}`)
  }

  /** The same for what may well not come. */
  soon(event: ServerEvent): Promise<unknown> {
    return Promise.race([this.until(event), pause(SOON_MS).then(() => 'not yet')])
  }
}

// What every peer does in its job, and how the bench knows how far it is.
import { Agent, request } from 'undici'

/** The POST that a job is for: by the fastest client there is, so that no peer pays for a slower one. */
export function poster(base) {
  const dispatcher = new Agent({ connections: 128 })
  const headers = { 'content-type': 'application/json' }
  const post = async ({ path, body }) => {
    const answer = await request(`${base}${path}`, { dispatcher, method: 'POST', headers, body: JSON.stringify(body) })
    return answer.body.json()
  }
  return { post, close: () => dispatcher.close() }
}

/** Jobs on their way: which callers wait for an answer, and how many completions are not on record yet. */
export class JobBook {
  #waiting = new Map()
  #open = 0
  #onNoneOpen = []
  #last = 0

  /** A new job: its number, and the promise of its answer. */
  open() {
    const number = ++this.#last
    this.#open++
    const answered = new Promise((resolve) => this.#waiting.set(number, resolve))
    return { number, answered }
  }

  /** Jobs that no caller waits for. */
  expect(count) {
    this.#open += count
  }

  answered(number, answer) {
    this.#waiting.get(number)?.(answer)
    this.#waiting.delete(number)
  }

  recorded(count = 1) {
    this.#open -= count
    if (this.#open === 0) for (const resolve of this.#onNoneOpen.splice(0)) resolve()
  }

  /** Resolves once every completion is on record. */
  async allRecorded() {
    if (this.#open > 0) await new Promise((resolve) => this.#onNoneOpen.push(resolve))
  }
}

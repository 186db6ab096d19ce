import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, it } from 'vitest'
import { hear } from '../crash/crash-scene.ts'
import { endAll, type LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import { type Fault, type FaultyApi, faultyApi } from './support/faulty-api.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sdks-'))
afterAll(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

type Program = 'payment' | 'named-payment' | 'order' | 'issue'

/** One API, and one machine whose processes share a SQLite journal. */
class Place {
  readonly api: FaultyApi
  readonly #db: string

  constructor(api: FaultyApi, db: string) {
    this.api = api
    this.#db = db
  }

  /** Kills a process while its request is under way. */
  async crash(program: Program, options: { readonly by?: 'platform' } = {}): Promise<void> {
    const child = await this.#start(program, options)
    while (this.api.requests.length === 0 && !child.isEnded) await pause(5)
    await child.kill()
  }

  call(program: Program): Promise<unknown> {
    return this.#run(program, 'answered')
  }

  resume(options: { readonly credentials?: 'none' } = {}): Promise<unknown> {
    return this.#run('resume', 'resumed', options)
  }

  counted() {
    const keys = new Set(this.api.requests.map(({ headers }) => headers['idempotency-key']))
    const bodies = new Set(this.api.requests.map(({ body }) => body))
    return { requests: this.api.requests.length, keys: keys.size, bodies: bodies.size, effects: this.api.effects() }
  }

  async #run(program: string, says: string, options: object = {}): Promise<unknown> {
    const child = await this.#start(program, options)
    const said = await hear(child, says)
    await child.ended
    return said
  }

  #start(program: string, options: object): Promise<LineProcess> {
    return startProgram(`../sdks/support/child-${program}`, { origin: this.api.origin, db: this.#db, ...options })
  }
}

let number = 0

async function placeWith(fault: Fault, use: (place: Place) => Promise<void>): Promise<void> {
  const answer = () => ({ body: { id: 'pi_1' } })
  const api = await faultyApi({ answer, keys: 'honoured', faults: [fault] })
  try {
    await use(new Place(api, join(folder, `${number++}.db`)))
  } finally {
    await api.close()
  }
}

const points = [
  { when: 'before the work', fault: 'silence', done: 0 },
  { when: 'after the work', fault: 'silence after the work', done: 1 },
] as const

const ONCE = { requests: 2, keys: 1, bodies: 1, effects: 1 }

describe.concurrent.each(points)('a process that is killed $when', ({ fault, done }) => {
  it.for(['payment', 'order'] as const)(
    'leaves a keyed %s to a resume, which has it done once',
    async (what, { expect }) => {
      await placeWith(fault, async (place) => {
        await place.crash(what)
        expect(await place.resume()).toMatchObject({ report: { claimed: 1, succeeded: 1 } })
        expect(place.counted()).toEqual(ONCE)
      })
    },
  )

  it('leaves what had no key as the platform’s fetch leaves it', async ({ expect }) => {
    const asDone = { requests: 1, effects: done }
    await placeWith(fault, async (place) => {
      await place.crash('issue', { by: 'platform' })
      expect(place.counted()).toMatchObject(asDone)
    })
    await placeWith(fault, async (place) => {
      await place.crash('issue')
      expect(await place.resume()).toMatchObject({ report: { claimed: 0 }, left: [] })
      expect(place.counted()).toMatchObject(asDone)
    })
  })

  it('may make a payment again where its caller gives it the same key', async ({ expect }) => {
    await placeWith(fault, async (place) => {
      await place.crash('named-payment')
      expect(await place.call('named-payment')).toMatchObject({ answer: { id: 'pi_1' } })
      expect(await place.resume()).toMatchObject({ report: { claimed: 0 }, left: [] })
      expect(place.counted()).toEqual(ONCE)
    })
  })

  it('may resume, and make the payment again under the same key', async ({ expect }) => {
    await placeWith(fault, async (place) => {
      await place.crash('named-payment')
      await place.resume()
      expect(await place.call('named-payment')).toMatchObject({ answer: { id: 'pi_1' } })
      expect(place.counted()).toMatchObject({ keys: 1, bodies: 1, effects: 1 })
    })
  })
})

describe.concurrent('a payment of a process that was killed', () => {
  it('stays pending where the client that resumes has no credentials', async ({ expect }) => {
    await placeWith('silence', async (place) => {
      await place.crash('payment')
      const left = [{ status: 'pending', reason: 'auth' }]
      expect(await place.resume({ credentials: 'none' })).toMatchObject({ left })
      expect(place.counted()).toMatchObject({ requests: 1, effects: 0 })
    })
  })

  it('is made twice where it is resumed and then made again, under a key that Stripe makes anew', async ({
    expect,
  }) => {
    await placeWith('silence', async (place) => {
      await place.crash('payment')
      await place.resume()
      await place.call('payment')
      expect(place.counted()).toMatchObject({ keys: 2, effects: 2 })
    })
  })
})

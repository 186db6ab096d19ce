import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, it } from 'vitest'
import { hear } from '../crash/crash-scene.ts'
import { endAll, type LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import type { SdkChildInput } from './support/child-sdk.ts'
import { type Fault, type FaultyApi, faultyApi } from './support/faulty-api.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sdks-'))
afterAll(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

type Task = Pick<SdkChildInput, 'does' | 'call'>

/** One API, and one machine whose processes share a journal. */
class Place {
  readonly api: FaultyApi
  readonly #db: string

  constructor(api: FaultyApi, db: string) {
    this.api = api
    this.#db = db
  }

  start(task: Task): Promise<LineProcess> {
    return startProgram('../sdks/support/child-sdk', { origin: this.api.origin, db: this.#db, ...task })
  }

  /** Kills the process while its request is under way. */
  async crash(task: Task): Promise<void> {
    const before = this.api.requests.length
    const child = await this.start(task)
    while (this.api.requests.length === before && !child.isEnded) await pause(5)
    await child.kill()
  }

  async run(task: Task, says: string): Promise<unknown> {
    const child = await this.start(task)
    const said = await hear(child, says)
    await child.ended
    return said
  }

  counted() {
    const keys = this.api.requests.map(({ headers }) => headers['idempotency-key'])
    const bodies = new Set(this.api.requests.map(({ body }) => body))
    return { requests: keys.length, keys: new Set(keys).size, bodies: bodies.size, effects: this.api.effects() }
  }
}

let number = 0

async function placeWith(fault: Fault, use: (place: Place) => Promise<void>): Promise<void> {
  const answer = () => ({ body: { id: 'pi_1', number: 7 } })
  const api = await faultyApi({ answer, keys: 'honoured', faults: [fault] })
  try {
    await use(new Place(api, join(folder, `${number++}.db`)))
  } finally {
    await api.close()
  }
}

const points = [
  { when: 'before the work', fault: 'silence', byPlatform: 0 },
  { when: 'after the work', fault: 'silence after the work', byPlatform: 1 },
] as const

const ONCE = { requests: 2, keys: 1, bodies: 1, effects: 1 }
const keyed = ['a payment', 'a payment under a key of its caller', 'an order under a key of its caller'] as const
const resumed = { claimed: 1, succeeded: 1 }

describe.concurrent.each(points)('a process that is killed $when', ({ fault, byPlatform }) => {
  it.for(keyed)('leaves %s to a resume, which has it done once', async (call, { expect }) => {
    await placeWith(fault, async (place) => {
      await place.crash({ does: 'call', call })
      expect(await place.run({ does: 'resume' }, 'resumed')).toMatchObject({ report: resumed })
      expect(place.counted()).toEqual(ONCE)
    })
  })

  it('leaves what had no key as the platform’s fetch leaves it', async ({ expect }) => {
    for (const does of ['call', 'call by the platform'] as const) {
      await placeWith(fault, async (place) => {
        await place.crash({ does, call: 'an issue' })
        expect(await place.run({ does: 'resume' }, 'resumed')).toMatchObject({ report: { claimed: 0 } })
        expect(place.counted()).toMatchObject({ requests: 1, effects: byPlatform })
      })
    }
  })

  it('leaves a payment pending where the client that resumes has no credentials', async ({ expect }) => {
    await placeWith(fault, async (place) => {
      await place.crash({ does: 'call' })
      const left = [{ status: 'pending', reason: 'auth' }]
      expect(await place.run({ does: 'resume without credentials' }, 'left')).toMatchObject({ left })
      expect(place.counted()).toMatchObject({ requests: 1, effects: byPlatform })
    })
  })

  it('may make the payment again where its caller gives it the same key', async ({ expect }) => {
    await placeWith(fault, async (place) => {
      const again = { does: 'call', call: 'a payment under a key of its caller' } as const
      await place.crash(again)
      expect(await place.run(again, 'answered')).toMatchObject({ answer: { id: 'pi_1' } })
      expect(await place.run({ does: 'resume' }, 'resumed')).toMatchObject({ report: { claimed: 0 } })
      expect(place.counted()).toEqual(ONCE)
    })
  })

  it('may do both, resume and make the payment again, under the same key', async ({ expect }) => {
    await placeWith(fault, async (place) => {
      const again = { does: 'call', call: 'a payment under a key of its caller' } as const
      await place.crash(again)
      await place.run({ does: 'resume' }, 'resumed')
      expect(await place.run(again, 'answered')).toMatchObject({ answer: { id: 'pi_1' } })
      expect(place.counted()).toMatchObject({ keys: 1, effects: 1 })
    })
  })

  it('pays twice where it resumes and then pays again under a key that Stripe makes anew', async ({ expect }) => {
    await placeWith(fault, async (place) => {
      await place.crash({ does: 'call' })
      await place.run({ does: 'resume' }, 'resumed')
      await place.run({ does: 'call' }, 'answered')
      expect(place.counted()).toMatchObject({ keys: 2, effects: 2 })
    })
  })
})

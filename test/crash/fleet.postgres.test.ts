import { describe, expect, it } from 'vitest'
import type { LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import type { ReplicaInput } from '../support/child-replica.ts'
import type { Fate } from '../support/counting-server.ts'
import { type Machine, onMachine } from '../support/other-machine.ts'
import { journalScene } from '../support/postgres-journal.ts'
import { crashScene, hear, only, saidBy } from './crash-scene.ts'

const scene = crashScene()
const database = journalScene()

const LEASE_MS = 30_000
const PATIENTLY = { timeout: 10_000, interval: 20 }

async function replica(schema: string, machine?: Machine, more: Partial<ReplicaInput> = {}): Promise<LineProcess> {
  const input: ReplicaInput = { origin: (await scene.server).origin, url: database.url, schema, ...more }
  const child = await startProgram('child-replica', input, { nodeOptions: machine ? onMachine(machine) : [] })
  await hear(child, 'ready')
  return child
}

/** Posts in a replica, to a server that is silent, and kills the replica with SIGKILL. */
async function killedWhileSending(child: LineProcess, path: string): Promise<string> {
  const server = await scene.server
  await server.mode({ path, script: ['hang'] })
  child.say(`post ${path}`)
  const { key } = await hear(child, 'accepted')
  await server.process.until((line) => line === `hangs ${key}`)
  await child.kill()
  return String(key)
}

describe.concurrent('of two replicas, one killed while it sends', () => {
  it('on the same host: the other finishes its work within ten seconds', async () => {
    const { path } = scene.place()
    const schema = database.newSchema()
    const [one, other] = [await replica(schema), await replica(schema)]
    const key = await killedWhileSending(one, path)
    const diedAt = performance.now()
    expect(await hear(other, 'handled')).toMatchObject({ key, status: 'succeeded' })
    expect(performance.now() - diedAt).toBeLessThan(10_000)
    expect(await (await scene.server).at(path)).toMatchObject([{ requests: 2, effects: 1 }])
    await other.kill()
  })

  it.each([
    ['whose clock is behind', { hostname: 'a', skew: 7 }, { hostname: 'b', skew: -9 }],
    ['whose clock is ahead', { hostname: 'a', skew: -9 }, { hostname: 'b', skew: 7 }],
  ])(
    'the other, on another machine %s, finishes its work once its lease has lapsed, within five seconds',
    async (_, a, b) => {
      const { path } = scene.place()
      const schema = database.newSchema()
      const [one, other] = [await replica(schema, a), await replica(schema, b)]
      const key = await killedWhileSending(one, path)
      const diedAt = performance.now()
      expect(await hear(other, 'handled')).toMatchObject({ key, status: 'succeeded' })
      const took = performance.now() - diedAt
      // Its last renewal may have been up to a third of a lease ago.
      expect(took).toBeGreaterThan(LEASE_MS / 2)
      expect(took).toBeLessThan(LEASE_MS + 5000)
      expect(await (await scene.server).at(path)).toMatchObject([{ requests: 2, effects: 1 }])
      expect(only(saidBy(other), 'handled')).toHaveLength(1)
      await other.kill()
    },
  )
})

/** Has a replica post to a path of its own, where the server does this with the first request. */
async function postTo(child: LineProcess, fate: Fate): Promise<string> {
  const { path } = scene.place()
  await (await scene.server).mode({ path, script: [fate] })
  child.say(`post ${path}`)
  return path
}

describe('of two replicas on two machines, one ended with SIGTERM', () => {
  it('brings home what it is sending, and the other does the rest before a lease lapses: nothing is lost or doubled', async () => {
    const server = await scene.server
    const schema = database.newSchema()
    const one = await replica(schema, { hostname: 'a', skew: 0 }, { retryAfterMs: 60_000 })
    const other = await replica(schema, { hostname: 'b', skew: 0 })
    const waiting: string[] = []
    for (let number = 0; number < 5; number++) waiting.push(await postTo(one, 'unavailable'))
    const hanging = await postTo(one, 'work-and-hang')
    await expect.poll(() => only(saidBy(one), 'answered').length, PATIENTLY).toBe(5)
    await server.process.until((line) => line.startsWith('worked '))
    const running = await postTo(one, 'slow')
    await expect.poll(() => server.at(running), PATIENTLY).toMatchObject([{ requests: 1 }])
    one.signal('SIGTERM')
    const doneBy = (child: LineProcess): number => only(saidBy(child), 'handled').length
    await expect.poll(() => doneBy(other), PATIENTLY).toBe(5)
    expect(doneBy(one)).toBeLessThanOrEqual(1)
    await one.ended
    expect(only(saidBy(one), 'closed')).toHaveLength(1)
    expect(doneBy(one)).toBe(1)
    // Aborted when the grace time was over, and free at once.
    await expect.poll(() => doneBy(other), PATIENTLY).toBe(6)
    for (const path of [...waiting, hanging]) expect(await server.at(path)).toMatchObject([{ requests: 2, effects: 1 }])
    expect(await server.at(running)).toMatchObject([{ requests: 1, effects: 1 }])
    await other.kill()
  })
})

import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { LineProcess } from '../support/child-process.ts'
import { programFile } from '../support/child-program.ts'
import { crashScene, hear, only, saidBy } from './crash-scene.ts'

const scene = crashScene()

/** Where leases are to lapse or be renewed: one is six seconds. */
const SPEED = 5

describe.concurrent('a neighbour that keeps resuming', () => {
  it('takes what a dead process left within ten seconds, not after its lease', async () => {
    const { db, path } = scene.place()
    const server = await scene.server
    await server.mode({ path, script: ['hang'] })
    const neighbour = await scene.resume({ db, continuous: true })
    await hear(neighbour, 'ready')
    const caller = await scene.call({ db, path, name: 'charge' })
    const { key } = await hear(caller, 'key')
    await server.process.until((line) => line === `hangs ${key}`)
    await caller.kill()
    const diedAt = performance.now()
    await hear(neighbour, 'handled')
    expect(performance.now() - diedAt).toBeLessThan(10_000)
    expect(await server.at(path)).toMatchObject([{ requests: 2, effects: 1 }])
  })

  it('does so also while a silent server holds another operation up', async () => {
    const { db, path } = scene.place()
    const server = await scene.server
    await server.mode({ path: `${path}/silent`, weights: { hang: 1 } })
    await server.mode({ path, script: ['hang'] })
    const first = await scene.call({ db, path: `${path}/silent` })
    const silent = await hear(first, 'key')
    await server.process.until((line) => line === `hangs ${silent.key}`)
    await first.kill()
    const neighbour = await scene.resume({ db, continuous: true, attemptTimeoutMs: 60_000 })
    await hear(neighbour, 'resumed')
    const second = await scene.call({ db, path, name: 'charge' })
    const { key } = await hear(second, 'key')
    await server.process.until((line) => line === `hangs ${key}`)
    await second.kill()
    const diedAt = performance.now()
    await hear(neighbour, 'handled')
    expect(performance.now() - diedAt).toBeLessThan(10_000)
    expect(await server.at(path)).toMatchObject([{ requests: 2, effects: 1 }])
  })

  it('knows a process for dead that its parent has not yet taken note of', async () => {
    const { db, path } = scene.place()
    const server = await scene.server
    await server.mode({ path, script: ['hang'] })
    const input = JSON.stringify({ origin: server.origin, db, path, name: 'charge' })
    const command = [process.execPath, await programFile('child-caller'), input]
    // A parent that stops before it could ever ask: its child stays in the table of processes.
    const parent = new LineProcess(['-c', 'exec 3<&0; "$@" <&3 & echo "$!"; kill -STOP $$', 'sh', ...command], 'sh')
    const pid = Number(await parent.until((line) => /^\d+$/.test(line)))
    const key = /"key":"(.+)"/.exec(await parent.until((line) => line.includes('"is":"key"')))?.[1]
    await server.process.until((line) => line === `hangs ${key}`)
    process.kill(pid, 'SIGKILL')
    const diedAt = performance.now()
    const neighbour = await scene.resume({ db, continuous: true })
    await hear(neighbour, 'handled')
    expect(performance.now() - diedAt).toBeLessThan(10_000)
    await parent.kill()
  })

  it('never touches what a living process works on', async () => {
    const { db, path } = scene.place()
    const server = await scene.server
    await server.mode({ path, script: ['hang'] })
    const caller = await scene.call({ db, path, speed: SPEED, name: 'charge', attemptTimeout: 40_000 })
    const { key } = await hear(caller, 'key')
    await server.process.until((line) => line === `hangs ${key}`)
    const neighbour = await scene.resume({ db, speed: SPEED, continuous: true })
    // Longer than a lease: it lives by being renewed.
    await hear(caller, 'answered')
    neighbour.signal('SIGTERM')
    await neighbour.ended
    expect(only(saidBy(neighbour), 'resumed')).toEqual([])
    expect(await server.at(path)).toMatchObject([{ requests: 2, effects: 1 }])
  })
})

describe.concurrent('a process that is told to end', () => {
  it('releases its leases, so that the next one goes on at once', async () => {
    const { db, path } = scene.place()
    const server = await scene.server
    await server.mode({ path, script: ['unavailable'] })
    const caller = await scene.call({ db, path, point: 'between attempts', name: 'charge' })
    await hear(caller, 'at')
    caller.signal('SIGTERM')
    expect(await caller.ended).toEqual({ code: 0, signal: null })
    expect(holdersIn(db)).toEqual([null])
    const said = await scene.resumeOnce({ db })
    expect(only(said, 'report')).toMatchObject([{ report: { claimed: 1, succeeded: 1 } }])
    expect(only(said, 'handled')).toHaveLength(1)
    expect(await server.at(path)).toMatchObject([{ requests: 2, effects: 1 }])
  })

  it('lets an attempt that is on its way come home, and hands it to its handler', async () => {
    const { db, path } = scene.place()
    const server = await scene.server
    await server.mode({ path, script: ['slow'] })
    const caller = await scene.call({ db, path, name: 'charge' })
    await hear(caller, 'attempt.started')
    caller.signal('SIGTERM')
    expect(await caller.ended).toEqual({ code: 0, signal: null })
    expect(only(saidBy(caller), 'handled')).toHaveLength(1)
    const said = await scene.resumeOnce({ db })
    expect(only(said, 'report')).toMatchObject([{ report: { claimed: 0 } }])
    expect(await server.at(path)).toMatchObject([{ requests: 1, effects: 1 }])
  })
})

describe.concurrent('an operation that kills every process that works on it', () => {
  it('is parked after five deaths, and only sent again when asked for by key', async () => {
    const { db, path } = scene.place()
    const server = await scene.server
    const caller = await scene.call({ db, path, point: 'before sending', name: 'charge' })
    const { key } = await hear(caller, 'key')
    await hear(caller, 'at')
    await caller.kill()
    for (let death = 2; death <= 5; death++) {
      const victim = await scene.resume({ db, suicidal: true })
      expect(await victim.ended).toEqual({ code: null, signal: 'SIGKILL' })
      expect(only(saidBy(victim), 'resumed')).toHaveLength(1)
    }
    for (let pass = 0; pass < 2; pass++) {
      const said = await scene.resumeOnce({ db, suicidal: true })
      expect(only(said, 'resumed')).toEqual([])
      expect(said.at(-1)).toMatchObject({ is: 'left', left: [{ key, status: 'pending', reason: 'poison' }] })
    }
    expect(await server.at(path)).toEqual([])

    const said = await scene.resumeOnce({ db, retry: String(key) })

    expect(only(said, 'answered')).toHaveLength(1)
    expect(await server.at(path)).toMatchObject([{ requests: 1, effects: 1 }])
  })
})

/** Who holds the leases, as the file has it. */
function holdersIn(db: string): unknown[] {
  const database = new Database(db, { readonly: true })
  const holders = database.prepare("SELECT owner FROM holdfast_operations WHERE namespace <> ''").pluck().all()
  database.close()
  return holders
}

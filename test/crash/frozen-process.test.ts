import { describe, expect, it } from 'vitest'
import type { CallerPoint } from '../support/child-caller.ts'
import type { Fate } from '../support/counting-server.ts'
import { crashScene, hear, only, saidBy } from './crash-scene.ts'

const scene = crashScene()

/** The clocks of both processes go ten times as fast as the world's: a lease is three seconds, no attempt ends by itself. */
const SPEED = 10
const LEASE_MS = 30_000 / SPEED
const PATIENT_MS = 3_000_000

interface Freeze {
  readonly title: string
  readonly point?: CallerPoint
  readonly script: readonly Fate[]
  readonly serverSays?: string
  /** What the frozen process had sent by then. */
  readonly sent: number
}

const freezes: readonly Freeze[] = [
  { title: 'after the write', point: 'after the write', script: [], sent: 0 },
  { title: 'just before sending', point: 'before sending', script: [], sent: 0 },
  { title: 'while the server is silent', script: ['hang'], serverSays: 'hangs', sent: 1 },
  { title: 'after the server worked', script: ['work-and-hang'], serverSays: 'worked', sent: 1 },
  { title: 'between two attempts', point: 'between attempts', script: ['unavailable'], sent: 1 },
]

describe.concurrent('a process that is frozen for longer than its lease', () => {
  it.each(freezes)(
    '$title sends nothing more when it wakes, and its caller is told what came of it elsewhere',
    async ({ point, script, serverSays, sent }) => {
      const { db, path } = scene.place()
      const server = await scene.server
      await server.mode({ path, script })
      const start = performance.now()
      const patient = { deadline: PATIENT_MS, attemptTimeout: PATIENT_MS }
      const caller = await scene.call({ db, path, point, freeze: true, name: 'charge', speed: SPEED, ...patient })
      const { key } = await hear(caller, 'key')
      await (serverSays ? server.process.until((line) => line === `${serverSays} ${key}`) : hear(caller, 'at'))
      // At the other points it freezes by itself, at the very instruction.
      if (serverSays || point === 'between attempts') caller.signal('SIGSTOP')
      const other = await scene.resume({ db, continuous: true, speed: SPEED, attemptTimeoutMs: PATIENT_MS })
      const { answer } = await hear(other, 'handled')
      // Not before: a process that stands still may be alive.
      expect(performance.now() - start).toBeGreaterThan(LEASE_MS)
      expect((await server.at(path))[0]).toMatchObject({ requests: sent + 1, effects: 1 })

      caller.signal('SIGCONT')

      expect(await hear(caller, 'answered')).toMatchObject({ answer })
      await caller.ended
      other.signal('SIGTERM')
      await other.ended
      const [counted] = await server.at(path)
      expect(counted).toMatchObject({ requests: sent + 1, effects: 1 })
      expect(counted?.bodies).toHaveLength(1)
      expect(only(saidBy(caller), 'handled')).toEqual([])
      expect(only(saidBy(other), 'handled')).toHaveLength(1)
    },
    90_000,
  )
})

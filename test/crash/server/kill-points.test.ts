import { describe, expect, it } from 'vitest'
import { hear } from '../crash-scene.ts'
import type { DeathPoint } from './child-ledger-server.ts'
import { charge, count, newFile, startServer } from './ledger-scene.ts'

const POINTS: readonly DeathPoint[] = ['before the effect', 'inside the effect', 'after the commit', 'during the reply']

describe.each(['database', 'path'] as const)('a server with a SQLite ledger (%s) that is killed', (form) => {
  it.each(POINTS)('%s: the next one does it once, and does not wait for the lease', async (dieAt) => {
    const db = newFile()
    const first = await startServer({ db, form, dieAt })
    expect(await charge(first, 'k')).toBeUndefined()
    await hear(first.process, 'dying')
    expect((await first.process.ended).signal).toBe('SIGKILL')

    const second = await startServer({ db, form })
    const answered = await charge(second, 'k')

    const committed = dieAt === 'after the commit' || dieAt === 'during the reply'
    const by = committed ? first.process.pid : second.process.pid
    expect(answered).toEqual({ status: 201, body: JSON.stringify({ charged: 'k', by }), replayed: committed })
    expect(count(db, 'charges', 'k')).toBe(1)
    expect(await charge(second, 'k')).toEqual({ ...answered, replayed: true })
    expect(count(db, 'charges', 'k')).toBe(1)
  })
})

describe('a server that is killed after it called outside', () => {
  it('is not run again: whoever asks is told that the outcome is unknown', async () => {
    const db = newFile()
    const first = await startServer({ db, form: 'database', kind: 'external', dieAt: 'after the call outside' })
    expect(await charge(first, 'k')).toBeUndefined()

    const second = await startServer({ db, form: 'database', kind: 'external' })

    for (let round = 0; round < 3; round++) {
      const answered = await charge(second, 'k')
      expect([answered?.status, JSON.parse(answered?.body ?? '{}').title]).toEqual([409, 'Outcome unknown'])
    }
    expect(count(db, 'calls_outside', 'k')).toBe(1)
  })

  it('is completed by whoever asks, where it can be found out what happened', async () => {
    const db = newFile()
    const first = await startServer({ db, form: 'path', kind: 'reconciled', dieAt: 'after the call outside' })
    expect(await charge(first, 'k')).toBeUndefined()

    const second = await startServer({ db, form: 'path', kind: 'reconciled' })

    expect(await charge(second, 'k')).toMatchObject({ status: 201, body: '{"called":"k"}' })
    expect(await charge(second, 'k')).toMatchObject({ status: 201, body: '{"called":"k"}', replayed: true })
    expect(count(db, 'calls_outside', 'k')).toBe(1)
  })
})

import { describe, expect, it } from 'vitest'
import {
  append,
  claimCommand,
  firstInLane,
  inLane,
  keysOf,
  list,
} from '../../../src/testing/contracts/journal/sample-row.ts'
import { journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()

describe('appends to a lane', () => {
  it('follow one another: one that comes later is never seen before one with an earlier place', async () => {
    const [journal, other] = [scene.journal(), scene.journal()]
    await journal.open()
    await other.open()
    const outbox = await scene.pool().connect()
    await outbox.query('BEGIN')
    await journal.persistIn?.(outbox, inLane('first', 'a').row)
    const later = other.execute([inLane('second', 'a')])
    await other.execute([append('free')])
    expect(await journal.execute([firstInLane('a')])).toEqual([undefined])
    await outbox.query('COMMIT')
    outbox.release()
    expect(await later).toEqual([{ appended: true }])
    expect(await journal.execute([firstInLane('a')])).toEqual(['first'])
    const [claimed] = await journal.execute([claimCommand()])
    expect(keysOf(claimed as { key: string }[])).toBe('first free')
    await journal.execute([{ do: 'drop', namespace: 'contract' }])
  })

  it('of several lanes at once do not wait for each other in a circle', async () => {
    const journals = Array.from({ length: 4 }, () => scene.journal())
    for (const journal of journals) await journal.open()
    const rounds = Array.from({ length: 25 }, (_, round) => round)
    for (const round of rounds) {
      const batches = journals.map((journal, at) => {
        const lanes = at % 2 === 0 ? ['x', 'y', 'z'] : ['z', 'y', 'x']
        return journal.execute(lanes.map((lane) => inLane(`${lane}-${round}-${at}`, lane)))
      })
      for (const results of await Promise.all(batches)) expect(results).toHaveLength(3)
    }
    const [rows] = (await journals[0]?.execute([list({ limit: 1000 })])) ?? []
    expect(rows).toHaveLength(25 * 4 * 3)
  })
})

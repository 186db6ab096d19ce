import { describe, expect, it } from 'vitest'
import { ENTRY_MOVES, type EntryMove, type EntryStateOrAbsent } from '../../../../src/server/entry/entry.ts'

const STATES: readonly EntryStateOrAbsent[] = ['absent', 'running', 'unknown', 'done']
const EVENTS: readonly EntryMove[] = ['claimed', 'taken-over', 'recorded', 'released', 'abandoned']

/** Where each event leads from each state; a dash where it must not happen. */
const TABLE = `
             claimed   taken-over  recorded  released  abandoned
  absent     running   -           -         -         -
  running    -         running     done      absent    unknown
  unknown    -         running     done      -         -
  done       running   -           -         -         -
`

const rows = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((line) => line.trim().split(/\s+/))

describe('the moves of an entry', () => {
  it('are those of the table, for every state and every event', () => {
    expect(rows.map(([state]) => state)).toEqual(STATES)
    for (const [state, ...ends] of rows) {
      const moves = EVENTS.map((event) => ENTRY_MOVES[state as EntryStateOrAbsent][event] ?? '-')
      expect([state, ...moves]).toEqual([state, ...ends])
    }
  })

  it('have no state and no event that the table does not know', () => {
    expect(Object.keys(ENTRY_MOVES).sort()).toEqual([...STATES].sort())
    const events = Object.values(ENTRY_MOVES).flatMap((moves) => Object.keys(moves))
    expect([...new Set(events)].sort()).toEqual([...EVENTS].sort())
  })

  it('never forget what may have happened: from unknown only an answer, or a request that finds out, leads on', () => {
    expect(Object.keys(ENTRY_MOVES.unknown)).toEqual(['taken-over', 'recorded'])
  })
})

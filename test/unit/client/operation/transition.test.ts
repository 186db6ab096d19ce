import { describe, expect, it } from 'vitest'
import { effectOf, type OperationRecord, type OperationStatus } from '../../../../src/client/operation/record.ts'
import {
  ATTEMPTS_TOLD,
  claim,
  countFruitlessRun,
  endAttempt,
  markDelivered,
  release,
  reopen,
  settle,
  shortenHorizon,
  startAttempt,
  withdrawAttempt,
  worseEffect,
} from '../../../../src/client/operation/transition.ts'
import { freshRecord, NOW } from '../../../support/shared-record.ts'

const lease = { owner: 'you', epoch: 2, until: NOW + 60_000 }
const ending = { at: NOW, reason: undefined, effect: 'applied', deliveryDue: false, expiresAt: undefined } as const
const ended = { startedAt: NOW, durationMs: 5, effect: 'none' } as const

const moves: Record<string, (record: OperationRecord) => OperationRecord> = {
  start: (record) => startAttempt(record, NOW),
  end: (record) => endAttempt(record, ended),
  withdraw: withdrawAttempt,
  settle: (record) => settle(record, { ...ending, status: 'succeeded' }),
  release: (record) => release(record, { dueAt: 0, heldBy: undefined }),
  reopen,
  deliver: markDelivered,
}

const idle = freshRecord({ inFlightSince: undefined })
const states: Record<string, OperationRecord> = {
  'pending, held, in flight': freshRecord(),
  'pending, held': idle,
  'pending, free': { ...idle, lease: undefined },
  ...Object.fromEntries(
    (['succeeded', 'rejected', 'failed', 'expired', 'cancelled'] as OperationStatus[]).flatMap((status) => [
      [`${status}, held, due`, { ...idle, status, deliveryDue: true }],
      [`${status}, held`, { ...idle, status }],
      [`${status}, free`, { ...idle, status, lease: undefined }],
    ]),
  ),
}

/** The only moves that each state allows. */
const legal: Record<string, readonly string[]> = {
  'pending, held, in flight': ['end', 'withdraw', 'release', 'reopen'],
  'pending, held': ['start', 'settle', 'release', 'reopen'],
  'pending, free': [],
  ...Object.fromEntries(
    ['succeeded', 'rejected', 'failed', 'expired', 'cancelled'].flatMap((status) => {
      const reopened = status === 'succeeded' || status === 'expired' ? [] : ['reopen']
      return [
        [`${status}, held, due`, ['release', ...reopened, 'deliver']],
        [`${status}, held`, ['release', ...reopened]],
        [`${status}, free`, []],
      ]
    }),
  ),
}

describe('the moves of an operation', () => {
  for (const [state, record] of Object.entries(states)) {
    it(`from "${state}" are ${legal[state]?.join(', ') || 'none'}`, () => {
      const allowed = Object.entries(moves).filter(([, move]) => {
        try {
          move(record)
          return true
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          expect((error as Error).message).toMatch(/^Illegal move: cannot /)
          return false
        }
      })
      expect(allowed.map(([name]) => name).toSorted()).toEqual([...(legal[state] ?? [])].toSorted())
    })
  }

  it('change nothing of the record that they are given', () => {
    for (const record of Object.values(states)) {
      const before = structuredClone(record)
      for (const move of Object.values(moves)) {
        try {
          move(record)
        } catch {
          // Illegal here; what matters is that it left no trace.
        }
      }
      expect(record).toEqual(before)
    }
  })
})

describe('an attempt', () => {
  it('counts, and makes the effect worse but never better', () => {
    let record = freshRecord()
    for (const [effect, known] of [
      ['none', 'none'],
      ['unknown', 'unknown'],
      ['none', 'unknown'],
      ['applied', 'applied'],
      ['unknown', 'applied'],
    ] as const) {
      record = endAttempt(record, { ...ended, effect })
      expect(record.effect).toBe(known)
      record = startAttempt(record, NOW)
    }
    expect(record.attemptCount).toBe(5)
    expect(record.attempts.map((attempt) => attempt.number)).toEqual([1, 2, 3, 4, 5])
  })

  it('keeps the latest time that the server asked for', () => {
    const first = endAttempt(freshRecord(), { ...ended, notBefore: NOW + 5000 })
    const second = endAttempt(startAttempt(first, NOW), { ...ended, notBefore: NOW + 1000 })
    expect(second.notBefore).toBe(NOW + 5000)
    expect(endAttempt(startAttempt(second, NOW), ended).notBefore).toBe(NOW + 5000)
  })

  it('is told in detail only for the newest, and counted always', () => {
    let record = freshRecord()
    for (let n = 0; n < ATTEMPTS_TOLD + 10; n++) record = startAttempt(endAttempt(record, ended), NOW)
    expect(record.attempts).toHaveLength(ATTEMPTS_TOLD)
    expect(record.attempts.at(0)?.number).toBe(11)
    expect(record.attemptCount).toBe(ATTEMPTS_TOLD + 10)
  })

  it('that was withdrawn was none', () => {
    const record = withdrawAttempt(freshRecord())
    expect(record).toMatchObject({ attemptCount: 0, effect: 'none', inFlightSince: undefined })
  })
})

describe('a claim', () => {
  it('writes an attempt that was left open down as unknown, never as one that did not happen', () => {
    const claimed = claim(freshRecord(), lease, 1)
    expect(claimed).toMatchObject({
      effect: 'unknown',
      attemptCount: 1,
      inFlightSince: undefined,
      deaths: 1,
      epoch: 2,
      lease,
    })
    expect(claimed.attempts).toMatchObject([{ number: 1, startedAt: NOW, fault: 'interrupted' }])
  })

  it('of one that rested changes the lease only', () => {
    expect(claim(idle, lease, 0)).toEqual({ ...idle, lease, epoch: 2 })
  })
})

describe('reopening', () => {
  it('goes on with the same key, bytes, attempts and effect, and forgets the settlement, the reason and the deaths', () => {
    const failed = {
      ...settle(
        { ...idle, deaths: 5, effect: 'unknown', attemptCount: 3 },
        { ...ending, status: 'failed', reason: 'attempts', effect: 'unknown', deliveryDue: true, expiresAt: NOW },
      ),
    }
    const reopened = reopen(failed)
    expect(reopened).toEqual({ ...idle, effect: 'unknown', attemptCount: 3 })
    expect(reopened.request).toBe(idle.request)
  })
})

describe('effects', () => {
  it('together are the worst of both', () => {
    expect(worseEffect('none', 'none')).toBe('none')
    expect(worseEffect('none', 'unknown')).toBe('unknown')
    expect(worseEffect('applied', 'unknown')).toBe('applied')
  })

  it('are unknown while an attempt is in flight, unless they are known to be there', () => {
    expect(effectOf({ effect: 'none', inFlightSince: undefined })).toBe('none')
    expect(effectOf({ effect: 'none', inFlightSince: NOW })).toBe('unknown')
    expect(effectOf({ effect: 'applied', inFlightSince: NOW })).toBe('applied')
  })
})

describe('a horizon', () => {
  it('is shortened, and never made longer', () => {
    const record = idle
    expect(shortenHorizon(record, record.horizonAt - 1)).toEqual({ ...record, horizonAt: record.horizonAt - 1 })
    expect(shortenHorizon(record, record.horizonAt)).toBe(record)
    expect(shortenHorizon(record, record.horizonAt + 1)).toBe(record)
  })
})

describe('fruitless runs', () => {
  it('are counted', () => {
    expect(countFruitlessRun(countFruitlessRun(idle)).fruitlessRuns).toBe(2)
  })
})

describe('a delivery', () => {
  it('is no longer due, and nothing else changes', () => {
    const due = { ...idle, status: 'failed', deliveryDue: true } as const
    expect(markDelivered(due)).toEqual({ ...due, deliveryDue: false })
  })

  it('is of a settlement: what is pending has none', () => {
    expect(() => markDelivered({ ...idle, deliveryDue: true })).toThrow('cannot mark as delivered')
  })
})

describe('an illegal move', () => {
  it.each([
    ['start', 'pending, free', 'start an attempt of an operation that is pending, no lease'],
    ['start', 'pending, held, in flight', 'start a second attempt of an operation that is pending, in flight'],
    ['end', 'pending, held', 'end an attempt of an operation that is pending'],
    ['withdraw', 'pending, free', 'withdraw an attempt of an operation that is pending, no lease'],
    ['settle', 'failed, held', 'settle an operation that is failed'],
    [
      'settle',
      'pending, held, in flight',
      'settle, with an attempt in flight, an operation that is pending, in flight',
    ],
    ['release', 'pending, free', 'release an operation that is pending, no lease'],
    ['reopen', 'succeeded, held', 'reopen an operation that is succeeded'],
    ['deliver', 'failed, free', 'mark as delivered an operation that is failed, no lease'],
  ])('says which, and in which state: %s when %s', (move, state, sentence) => {
    const record = states[state] as OperationRecord
    expect(() => moves[move]?.(record)).toThrow(new TypeError(`Illegal move: cannot ${sentence}`))
  })
})

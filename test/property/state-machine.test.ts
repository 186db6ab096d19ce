import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OperationRecord } from '../../src/client/operation/record.ts'
import {
  claim,
  endAttempt,
  markDelivered,
  release,
  reopen,
  settle,
  startAttempt,
  withdrawAttempt,
} from '../../src/client/operation/transition.ts'
import type { Effect, SettledStatus } from '../../src/index.ts'
import { freshRecord, NOW } from '../support/shared-record.ts'

const effect = fc.constantFrom<Effect>('none', 'unknown', 'applied')
const status = fc.constantFrom<SettledStatus>('succeeded', 'rejected', 'failed', 'expired', 'cancelled')

type Move = { readonly name: string; readonly make: (record: OperationRecord) => OperationRecord }

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.constant({ name: 'start', make: (record: OperationRecord) => startAttempt(record, NOW) }),
  fc.record({ effect, floor: fc.nat(100_000) }).map(({ effect, floor }) => ({
    name: 'end',
    make: (record: OperationRecord) =>
      endAttempt(record, { startedAt: NOW, durationMs: 1, effect, notBefore: NOW + floor }),
  })),
  fc.constant({ name: 'withdraw', make: withdrawAttempt }),
  fc.boolean().map((died) => ({
    name: 'claim',
    make: (record: OperationRecord) =>
      claim(record, { owner: 'you', epoch: record.epoch + 1, until: NOW + 30_000 }, died ? 1 : 0),
  })),
  fc.record({ status, effect, deliveryDue: fc.boolean() }).map((terms) => ({
    name: 'settle',
    make: (record: OperationRecord) => settle(record, { ...terms, at: NOW, reason: undefined, expiresAt: NOW + 1 }),
  })),
  fc.constant({
    name: 'release',
    make: (record: OperationRecord) => release(record, { dueAt: NOW, heldBy: 'attempts' }),
  }),
  fc.constant({ name: 'reopen', make: reopen }),
  fc.constant({ name: 'deliver', make: markDelivered }),
)

const WEIGHT = { none: 0, unknown: 1, applied: 2 }

/** What no move may ever do. */
function checkMove(before: OperationRecord, after: OperationRecord, name: string): void {
  expect(after.key).toBe(before.key)
  expect(after.request).toBe(before.request)
  expect(after.fingerprint).toBe(before.fingerprint)
  expect(after.acceptedAt).toBe(before.acceptedAt)
  expect(after.horizonAt).toBe(before.horizonAt)
  expect(after.attemptCount).toBeGreaterThanOrEqual(before.attemptCount)
  expect(after.epoch).toBeGreaterThanOrEqual(before.epoch)
  expect(after.notBefore).toBeGreaterThanOrEqual(before.notBefore)
  if (name !== 'settle') expect(WEIGHT[after.effect]).toBeGreaterThanOrEqual(WEIGHT[before.effect])
  if (before.status === 'pending') return
  if (name !== 'reopen') expect(after.status).toBe(before.status)
  else expect(['failed', 'cancelled', 'rejected']).toContain(before.status)
}

describe('any sequence of moves', () => {
  it('makes only legal ones, and none that changes what was promised', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let record = freshRecord()
        for (const { name, make } of moves) {
          const before = record
          try {
            record = make(before)
          } catch (error) {
            expect(error).toBeInstanceOf(TypeError)
            continue
          }
          checkMove(before, record, name)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('never forgets that an attempt was under way: whoever claims it, its fate is unknown', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
        let record = freshRecord()
        for (const { make } of moves) {
          try {
            record = make(record)
          } catch {
            continue
          }
          const claimed = claim(record, { owner: 'other', epoch: record.epoch + 1, until: NOW }, 0)
          if (record.inFlightSince !== undefined) expect(claimed.effect).not.toBe('none')
          expect(claimed.inFlightSince).toBeUndefined()
        }
      }),
    )
  })
})

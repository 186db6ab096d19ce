import { describe, expect, it } from 'vitest'
import type { OperationRecord } from '../../../../src/client/operation/record.ts'
import { shownUrl, viewOf } from '../../../../src/client/operation/view.ts'
import { freshRecord, NOW } from '../../../support/shared-record.ts'

const idle = freshRecord({ inFlightSince: undefined })
const waiting = (more: Partial<OperationRecord>) => viewOf({ ...idle, ...more }, NOW).nextAttemptAt

describe('the view of an operation', () => {
  it('counts the attempt that is in flight, which may have been done', () => {
    expect(viewOf(freshRecord({ attemptCount: 2 }), NOW)).toMatchObject({
      attempts: 3,
      inFlight: true,
      effect: 'unknown',
    })
    expect(viewOf({ ...idle, attemptCount: 2 }, NOW)).toMatchObject({ attempts: 2, inFlight: false, effect: 'none' })
  })

  it('has what identifies the operation and says what it is', () => {
    const named = { ...idle, id: 'order:1', name: 'charge', metadata: { a: 1 } }
    const { key, acceptedAt, horizonAt } = idle
    expect(viewOf(named, NOW)).toEqual({
      key,
      id: 'order:1',
      name: 'charge',
      metadata: { a: 1 },
      lane: undefined,
      holdsLane: false,
      status: 'pending',
      attempts: 0,
      acceptedAt,
      method: 'POST',
      url: 'https://api.example.com/charges',
      effect: 'none',
      inFlight: false,
      horizonAt,
      nextAttemptAt: undefined,
      reason: undefined,
    })
  })

  it('says why it ended, or else why it waits', () => {
    expect(viewOf({ ...idle, heldBy: 'budget' }, NOW).reason).toBe('budget')
    expect(viewOf({ ...idle, reason: 'status', heldBy: 'budget' }, NOW).reason).toBe('status')
  })

  it('has the later of the two times before which no resume attempts it', () => {
    expect(waiting({ dueAt: NOW + 5, notBefore: NOW + 9 })).toBe(NOW + 9)
    expect(waiting({ dueAt: NOW + 9, notBefore: NOW + 5 })).toBe(NOW + 9)
    expect(waiting({ dueAt: 1, notBefore: 0 })).toBe(1)
    expect(waiting({ dueAt: idle.horizonAt - 1 })).toBe(idle.horizonAt - 1)
  })

  it('has no such time where nothing is planned', () => {
    expect(waiting({ dueAt: 0, notBefore: 0 })).toBeUndefined()
    expect(waiting({ dueAt: idle.horizonAt })).toBeUndefined()
    expect(waiting({ dueAt: NOW, status: 'failed' })).toBeUndefined()
    expect(waiting({ dueAt: NOW, inFlightSince: NOW })).toBeUndefined()
  })
})

describe('the URL that is shown', () => {
  const shown = (url: string, withheld: readonly string[]) => shownUrl({ ...idle.request, url, withheld })

  it('has no query: neither what was withheld nor what was not', () => {
    expect(shown('https://api.example.com/a', ['?token', 'authorization'])).toBe('https://api.example.com/a')
    expect(shown('https://api.example.com/a?b=1', ['?token'])).toBe('https://api.example.com/a')
  })
})

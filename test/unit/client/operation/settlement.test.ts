import { describe, expect, it } from 'vitest'
import { askAgain, endAttempt, release, reopen, settle } from '../../../../src/client/operation/transition.ts'
import { freshRecord, NOW } from '../../../support/shared-record.ts'

const lease = { owner: 'you', epoch: 2, until: NOW + 60_000 }
const ending = { at: NOW, reason: undefined, effect: 'applied', deliveryDue: false, expiresAt: undefined } as const
const ended = { startedAt: NOW, durationMs: 5, effect: 'none' } as const
const idle = freshRecord({ inFlightSince: undefined })

describe('what a server asks for', () => {
  it('never reaches beyond the horizon', () => {
    expect(endAttempt(freshRecord(), { ...ended, notBefore: idle.horizonAt + 1 }).notBefore).toBe(idle.horizonAt)
    const terms = { dueAt: 0, heldBy: undefined, notBefore: idle.horizonAt + 1 }
    expect(release(idle, terms).notBefore).toBe(idle.horizonAt)
  })
})

describe('a release', () => {
  it('lets go of the lease only, says why, and keeps the latest time', () => {
    const asked = { ...idle, notBefore: NOW + 5 }
    const released = { ...asked, lease: undefined, dueAt: NOW + 9, heldBy: 'budget' }
    expect(release(asked, { dueAt: NOW + 9, heldBy: 'budget' })).toEqual(released)
    expect(release(asked, { dueAt: NOW + 9, heldBy: 'budget', notBefore: NOW + 7 })).toEqual({
      ...released,
      notBefore: NOW + 7,
    })
    expect(release(asked, { dueAt: NOW + 9, heldBy: 'budget', notBefore: NOW + 3 })).toEqual(released)
  })
})

describe('a settlement', () => {
  it('is written with all that is known, and ends what was planned', () => {
    const response = {
      status: 201,
      statusText: '',
      headers: [],
      body: null,
      bodyOmitted: false,
      url: '',
      redirected: false,
    }
    const failure = { detail: 'cut off', retryAt: NOW + 1 }
    const waiting = { ...idle, dueAt: NOW + 9, heldBy: 'budget' } as const
    const settlement = { ...ending, status: 'failed', reason: 'network', response, failure, deliveryDue: true } as const
    const settled = {
      ...idle,
      status: 'failed',
      settledAt: NOW,
      expiresAt: NOW + 7,
      reason: 'network',
      effect: 'applied',
      response,
      error: failure,
      deliveryDue: true,
    }
    expect(settle(waiting, { ...settlement, expiresAt: NOW + 7 })).toEqual(settled)
    expect(settle(waiting, { ...settlement, mayHaveRepeated: true }).mayHaveRepeated).toBe(true)
  })
})

describe('reopening a parked operation', () => {
  it('takes back the time that only its parking had set', () => {
    const parked = { ...idle, heldBy: 'poison', notBefore: NOW + 5, dueAt: NOW + 9 } as const
    expect(reopen(parked)).toEqual(idle)
    expect(reopen({ ...parked, heldBy: 'budget' }).notBefore).toBe(NOW + 5)
  })
})

describe('asking again', () => {
  it('forgets the settlement and keeps what is known of the effect, under a lease of its own', () => {
    const done = {
      ...settle(idle, { ...ending, status: 'succeeded', reason: 'status', deliveryDue: true, expiresAt: NOW }),
    }
    expect(askAgain(done, lease)).toEqual({ ...idle, effect: 'applied', lease })
  })

  it.each(['pending', 'rejected', 'failed', 'expired', 'cancelled'] as const)('is not for what is %s', (status) => {
    expect(() => askAgain({ ...idle, status }, lease)).toThrow(
      `Illegal move: cannot ask again an operation that is ${status}`,
    )
  })
})

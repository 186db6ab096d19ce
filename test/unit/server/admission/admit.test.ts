import { describe, expect, it } from 'vitest'
import { type AdmissionPolicy, admit, onAbandonedOf } from '../../../../src/server/admission/admit.ts'
import { ENTRY_VERSION, type Entry } from '../../../../src/server/entry/entry.ts'
import { isInFlight } from '../../../../src/server/guard/in-flight-waiters.ts'
import type { FoundEntry } from '../../../../src/server/ledger/port.ts'

const NOW = 1_700_000_000_000

function entry(more: Partial<Entry> = {}): Entry {
  return {
    scope: 's',
    key: 'k',
    fingerprint: 'same',
    method: 'POST',
    path: '/',
    state: 'running',
    token: 't',
    attempt: 1,
    external: false,
    inEffect: false,
    createdAt: NOW - 1000,
    leaseUntil: NOW + 1000,
    completedAt: null,
    unknownSince: null,
    expiresAt: NOW + 100_000,
    answer: null,
    version: ENTRY_VERSION,
    ...more,
  }
}

const found = (more: Partial<Entry>, owner: FoundEntry['owner'] = 'unsure'): FoundEntry => ({
  entry: entry(more),
  now: NOW,
  owner,
})

const inside: AdmissionPolicy = { external: false, onAbandoned: 'rerun', canReconcile: false }
const held: AdmissionPolicy = { external: true, onAbandoned: 'hold', canReconcile: false }
const asking: AdmissionPolicy = { external: true, onAbandoned: 'hold', canReconcile: true }

const refused = (reason: string) => ({ kind: 'refuse', reason })
const taken = (next: string) => ({ kind: 'take-over', next })

describe('a request whose key is there already', () => {
  it('gets the answer that is on record, until the very end of its retention', () => {
    expect(admit(found({ state: 'done' }), 'same', inside)).toEqual({ kind: 'replay' })
    expect(admit(found({ state: 'done', expiresAt: NOW + 1 }), 'same', inside)).toEqual({ kind: 'replay' })
    expect(admit(found({ state: 'done', expiresAt: NOW }), 'same', inside)).toEqual(taken('run'))
  })

  it('is refused where it is another request, whatever the first one is doing', () => {
    for (const state of ['running', 'done', 'unknown'] as const) {
      expect(admit(found({ state, leaseUntil: 0 }, 'gone'), 'other', inside)).toEqual(refused('key-reused'))
      expect(admit(found({ state }, 'alive'), 'other', inside)).toEqual(refused('key-reused'))
    }
  })

  it('may be another request once the first one is forgotten', () => {
    expect(admit(found({ state: 'done', expiresAt: NOW }), 'other', inside)).toEqual(taken('run'))
  })

  it('is not run for being late where nothing is on record yet: only an answer is forgotten', () => {
    const expired = { expiresAt: NOW - 1 }
    expect(admit(found({ ...expired }, 'alive'), 'same', inside)).toEqual(refused('in-flight'))
    expect(admit(found({ ...expired, state: 'unknown' }, 'gone'), 'same', held)).toEqual(refused('outcome-unknown'))
    expect(admit(found({ ...expired, state: 'unknown' }, 'gone'), 'other', held)).toEqual(refused('key-reused'))
  })

  it('comes back later where the first one is alive', () => {
    expect(admit(found({}), 'same', inside)).toEqual(refused('in-flight'))
    expect(admit(found({ leaseUntil: NOW + 1 }), 'same', inside)).toEqual(refused('in-flight'))
  })

  it('believes the store before the lease', () => {
    expect(admit(found({ leaseUntil: 0 }, 'alive'), 'same', inside)).toEqual(refused('in-flight'))
    expect(admit(found({ leaseUntil: NOW + 99_999 }, 'gone'), 'same', inside)).toEqual(taken('run'))
    expect(admit(found({ leaseUntil: NOW }, 'unsure'), 'same', inside)).toEqual(taken('run'))
  })

  it('is never run over work outside that may have happened', () => {
    for (const state of ['running', 'unknown'] as const) {
      const gone = found({ state, external: true, leaseUntil: 0 })
      const next = admit(gone, 'same', held)
      expect(next).toEqual(state === 'running' ? taken('hold') : refused('outcome-unknown'))
      expect(admit(gone, 'same', asking)).toEqual(taken('reconcile'))
    }
  })

  it('is held where either the entry or the handler reaches outside', () => {
    expect(admit(found({ external: true, inEffect: true }, 'gone'), 'same', { ...held, external: false })).toEqual(
      taken('hold'),
    )
    expect(admit(found({ inEffect: true }, 'gone'), 'same', held)).toEqual(taken('hold'))
  })

  it('is run where all that was done was in a transaction that is no more, without asking anybody', () => {
    const policy = { external: false, onAbandoned: 'hold', canReconcile: true } as const
    expect(admit(found({ inEffect: true }, 'gone'), 'same', policy)).toEqual(taken('run'))
  })

  it('is run again, or held, as the policy says where nobody knows', () => {
    expect(admit(found({ leaseUntil: 0 }), 'same', inside)).toEqual(taken('run'))
    expect(admit(found({ leaseUntil: 0 }), 'same', { ...inside, onAbandoned: 'hold' })).toEqual(taken('hold'))
    expect(admit(found({ state: 'unknown' }), 'same', inside)).toEqual(taken('run'))
    expect(admit(found({ state: 'unknown' }), 'same', { ...inside, onAbandoned: 'hold' })).toEqual(
      refused('outcome-unknown'),
    )
  })

  it('is not run, not replayed and not refused for good where a newer version wrote the entry', () => {
    for (const state of ['running', 'done', 'unknown'] as const) {
      const newer = found({ state, version: ENTRY_VERSION + 1, leaseUntil: 0, expiresAt: 0 }, 'gone')
      expect(admit(newer, 'other', inside)).toEqual(refused('written-by-newer'))
    }
  })

  it('comes back later where the first one was fingerprinted in another way, whatever it is doing', () => {
    for (const state of ['running', 'done', 'unknown'] as const) {
      const older = found({ state, fingerprint: '1:first', leaseUntil: 0 }, 'gone')
      expect(admit(older, '2:second', inside)).toEqual(refused('other-version'))
    }
  })

  it('is run where an unknown entry was in its transaction only if the policy says so', () => {
    const unknown = found({ state: 'unknown', inEffect: true }, 'gone')
    expect(admit(unknown, 'same', { ...inside, onAbandoned: 'hold' })).toEqual(refused('outcome-unknown'))
  })
})

describe('work whose runner is gone', () => {
  it('is run again unless it reaches outside, or as somebody said', () => {
    expect(onAbandonedOf({ external: false, onAbandoned: undefined })).toBe('rerun')
    expect(onAbandonedOf({ external: true, onAbandoned: undefined })).toBe('hold')
    expect(onAbandonedOf({ external: true, onAbandoned: 'rerun' })).toBe('rerun')
    expect(onAbandonedOf({ external: false, onAbandoned: 'hold' })).toBe('hold')
  })
})

describe('a claim', () => {
  it('is in flight where it was refused for that reason, and in no other case', () => {
    expect(isInFlight({ kind: 'refused', reason: 'in-flight' })).toBe(true)
    expect(isInFlight({ kind: 'refused', reason: 'key-reused' })).toBe(false)
    expect(isInFlight({ kind: 'replay', entry: entry() })).toBe(false)
  })
})

import { describe, expect, test } from 'vitest'
import {
  HEADER,
  isBodyOmitted,
  isReplayed,
  REPLAY_MARKERS,
  showsKeyHonoured,
} from '../../../src/protocol/header-names.ts'

describe('isReplayed', () => {
  test.each([
    'idempotency-replayed',
    'idempotent-replayed',
    'idempotency-replay',
    'x-idempotent-replayed',
    'x-idempotency-replayed',
  ])('reads %s', (name) => {
    expect(isReplayed([[name, 'true']])).toBe(true)
    expect(isReplayed([[name, ' True ']])).toBe(true)
    expect(isReplayed([[name, 'false']])).toBe(false)
    expect(isReplayed([[name, '']])).toBe(false)
  })

  test('an answer without a marker is fresh', () => {
    expect(isReplayed([['content-type', 'true']])).toBe(false)
    expect(isReplayed([])).toBe(false)
  })
})

describe('an answer', () => {
  test('shows that its server knows keys by a dedup window, by a replay, or by the key itself', () => {
    expect(showsKeyHonoured([['idempotency-retention', '60']], 'k')).toBe(true)
    expect(showsKeyHonoured([['idempotency-replayed', 'true']], 'k')).toBe(true)
    expect(showsKeyHonoured([['idempotency-key', 'k']], 'k')).toBe(true)
    expect(showsKeyHonoured([['idempotency-key', '"k"']], 'k')).toBe(true)
  })

  test('shows nothing by another key, or by none', () => {
    expect(showsKeyHonoured([['idempotency-key', 'other']], 'k')).toBe(false)
    expect(showsKeyHonoured([['idempotency-replayed', 'false']], 'k')).toBe(false)
    expect(showsKeyHonoured([], 'k')).toBe(false)
  })

  test('says that its body was not kept by one word', () => {
    expect(isBodyOmitted([['idempotency-body', 'omitted']])).toBe(true)
    expect(isBodyOmitted([['idempotency-body', '']])).toBe(false)
    expect(isBodyOmitted([])).toBe(false)
  })
})

test('every name is in lower case, as header lists have them', () => {
  for (const name of [...Object.values(HEADER), ...REPLAY_MARKERS]) expect(name).toBe(name.toLowerCase())
})

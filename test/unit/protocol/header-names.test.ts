import { describe, expect, test } from 'vitest'
import { HEADER, isReplayed, REPLAY_MARKERS } from '../../../src/protocol/header-names.ts'

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

test('every name is in lower case, as header lists have them', () => {
  for (const name of [...Object.values(HEADER), ...REPLAY_MARKERS]) expect(name).toBe(name.toLowerCase())
})

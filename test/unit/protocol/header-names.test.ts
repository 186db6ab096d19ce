import { describe, expect, test } from 'vitest'
import { HEADER, isBodyOmitted, isReplayed, REPLAY_MARKERS } from '../../../src/protocol/header-names.ts'

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
  test('says that its body was not kept by one word', () => {
    expect(isBodyOmitted([['idempotency-body', 'omitted']])).toBe(true)
    expect(isBodyOmitted([['idempotency-body', '']])).toBe(false)
    expect(isBodyOmitted([])).toBe(false)
  })
})

test('every name is in lower case, as header lists have them', () => {
  for (const name of [...Object.values(HEADER), ...REPLAY_MARKERS]) expect(name).toBe(name.toLowerCase())
})

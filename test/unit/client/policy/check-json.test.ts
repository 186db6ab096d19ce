import { describe, expect, test } from 'vitest'
import { checkJson } from '../../../../src/client/policy/check-json.ts'

describe('JSON', () => {
  const nested = (depth: number): unknown => (depth === 0 ? [] : [nested(depth - 1)])

  test.each([null, 'a', '', true, false, 0, 1.5, [], {}, [[1, { a: null }]], { a: undefined }, Object.create(null)])(
    'may be %j',
    (value) => {
      expect(() => checkJson('metadata', value)).not.toThrow()
    },
  )

  test.each([
    [undefined, 'metadata'],
    [Number.NaN, 'metadata'],
    [Number.POSITIVE_INFINITY, 'metadata'],
    [1n, 'metadata'],
    [() => {}, 'metadata'],
    [Symbol('s'), 'metadata'],
    [new Date(0), 'metadata'],
    [new (class Own {})(), 'metadata'],
    [[1, [undefined]], 'metadata[1][0]'],
    [{ a: { b: { c: new Map() } } }, 'metadata.a.b.c'],
    [{ a: { b: { c: { d: new Map() } } } }, 'metadata.a.b.c'],
  ])('can not be %o: it names the culprit', (value, culprit) => {
    expect(() => checkJson('metadata', value)).toThrow(
      `The option \`${culprit}\` must be JSON: strings, finite numbers, booleans, null, arrays and plain objects; `,
    )
  })

  test('is not nested deeper than 64 levels', () => {
    expect(() => checkJson('metadata', nested(63))).not.toThrow()
    expect(() => checkJson('metadata', nested(64))).toThrow(' must be JSON that is not circular and not nested so deep')
    let objects: object = {}
    for (let level = 0; level < 64; level++) objects = { a: objects }
    expect(() => checkJson('metadata', objects)).toThrow('`metadata.a.a.a` must be JSON that is not circular')
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from '../../../src/foundation/json-text.ts'

describe('the JSON text of a value', () => {
  it('has the digits of a BigInt', () => {
    const value = { id: 9007199254740993n, list: [1n, -2n, 'x', undefined, () => 1], none: undefined, at: new Date(0) }
    expect(jsonText(value)).toEqual({
      text: '{"id":9007199254740993,"list":[1,-2,"x",null,null],"at":"1970-01-01T00:00:00.000Z"}',
      hasBigInt: true,
    })
  })

  it('is that of JSON.stringify, with a BigInt in it or without', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(jsonText(value)).toEqual({ text, hasBigInt: false })
        expect(jsonText([value, 1n])).toEqual({ text: `[${text},1]`, hasBigInt: true })
      }),
    )
  })

  it.each([[undefined], [() => 1], [Symbol('a')]])('is undefined for %s', (value) => {
    expect(jsonText(value)).toEqual({ text: undefined, hasBigInt: false })
  })

  it('does not go round in circles', () => {
    const circle: { self?: unknown; n: bigint } = { n: 1n }
    circle.self = circle
    expect(() => jsonText(circle)).toThrow(TypeError)
  })
})

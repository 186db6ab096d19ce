import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, readCanonicalJson } from '../../../src/foundation/canonical-json.ts'

const same: readonly (readonly [what: string, ...texts: string[]])[] = [
  ['the order of keys', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
  ['blanks', '{"a":[1,2]}', ' {\t"a" :\r\n [ 1 , 2 ] } \n'],
  ['one', '1', '1.0', '1e0', '1.000', '10e-1', '0.1e1', '1E+0', '0.0001e4'],
  ['a hundred', '100', '1e2', '1.00E2', '100.0', '0.1e+3'],
  ['zero', '0', '-0', '0.0', '-0.0', '0e5', '-0E-7', '0.000e99'],
  ['fractions', '1.5', '1.50', '15e-1', '0.15e1'],
  ['less than zero', '-1.5', '-15e-1', '-1.50'],
  ['escapes', '"\\u0061\\/\\u00e9\\uD83D\\uDE00"', '"a/é😀"'],
  ['escaped keys', '{"\\u0061":1}', '{"a":1}'],
  ['control characters', '"\\u000a\\u0000"', '"\\n\\u0000"'],
  ['line separators', '"\\u2028"', '"\u2028"'],
]

const different: readonly (readonly [what: string, one: string, other: string])[] = [
  ['large integers', '9007199254740993', '9007199254740992'],
  ['long decimals', '0.1000000000000000055511151231257827', '0.1'],
  ['numbers beyond floating point', '1e400', '1e401'],
  ['numbers too small for floating point', '1e-400', '0'],
  ['number and text', '1', '"1"'],
  ['signs', '1', '-1'],
  ['null and nothing', '{"a":null}', '{}'],
  ['order in a list', '[1,2]', '[2,1]'],
  ['letter case of keys', '{"a":1}', '{"A":1}'],
  ['composed and decomposed letters', '"\u00e9"', '"e\u0301"'],
  ['a key that objects have anyway', '{"__proto__":{"a":1}}', '{}'],
  ['what is under such a key', '{"__proto__":1}', '{"__proto__":2}'],
]

const refused: readonly (readonly [what: string, text: string])[] = [
  ['nothing', ''],
  ['blanks only', '  '],
  ['two values', '1 2'],
  ['a comma too many', '[1,]'],
  ['a comma too many in an object', '{"a":1,}'],
  ['a missing comma', '[1 2]'],
  ['a missing colon', '{"a" 1}'],
  ['a key without quotes', '{a:1}'],
  ['a leading zero', '01'],
  ['a leading plus', '+1'],
  ['a bare point', '1.'],
  ['a bare sign', '-'],
  ['a bare exponent', '1e'],
  ['not a number', 'NaN'],
  ['a string without end', '"a'],
  ['a string whose end is escaped', '"a\\"'],
  ['an unknown escape', '"\\x"'],
  ['a short escape', '"\\u12"'],
  ['a raw control character', '"\u0001"'],
  ['a raw line feed', '"\n"'],
  ['a list without end', '[1'],
  ['an object without end', '{"a":1'],
  ['other blanks', '\u00a01'],
  ['a byte order mark', '\ufeff1'],
  ['a key twice', '{"a":1,"a":1}'],
  ['a key twice in two spellings', '{"a":1,"\\u0061":2}'],
  ['a key twice further in', '[{"x":{"__proto__":1,"__proto__":2}}]'],
  ['the first half of a pair', '"\\ud800"'],
  ['the second half of a pair', '{"\\udc00":1}'],
  ['an exponent that nobody counts to', '1e99999999999999999999'],
]

describe('one text for all spellings of', () => {
  it.each(same)('%s', (_, first, ...others) => {
    expect(canonicalJson(first as string)).toBeDefined()
    for (const other of others) expect(canonicalJson(other)).toBe(canonicalJson(first as string))
  })
})

describe('different texts for', () => {
  it.each(different)('%s', (_, one, other) => {
    expect(canonicalJson(one)).toBeDefined()
    expect(canonicalJson(other)).toBeDefined()
    expect(canonicalJson(one)).not.toBe(canonicalJson(other))
  })
})

describe('no text for', () => {
  it.each(refused)('%s', (_, text) => expect(canonicalJson(text)).toBeUndefined())

  it('more than 200 levels', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(canonicalJson(nested(200))).toBe(nested(200))
    expect(canonicalJson(nested(201))).toBeUndefined()
    expect(canonicalJson(nested(1_000_000))).toBeUndefined()
  })
})

describe('the text', () => {
  it('is in a fixed form', () => {
    expect(canonicalJson('{"b": [true, false, null, 12.50], "a": "\\u0022", "": 300}')).toBe(
      '{"":3e2,"a":"\\"","b":[true,false,null,125e-1]}',
    )
  })

  it('takes long strings, numbers and runs of escapes', () => {
    const long = 'x\\"\\\\'.repeat(500_000)
    expect(canonicalJson(`["${long}"]`)).toBe(`["${long}"]`)
    expect(canonicalJson(`1${'0'.repeat(1_000_000)}1`)).toHaveLength(1_000_002)
  })

  const ordinary = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value))

  it('says the same as the text it was made from', () => {
    fc.assert(
      fc.property(ordinary, (text) => {
        const canonical = canonicalJson(text)
        // A negative zero is a zero here, as it is to every database.
        expect(JSON.stringify(JSON.parse(canonical as string))).toBe(sorted(JSON.parse(text)))
      }),
    )
  })

  it('is its own canonical form, however it was indented and ordered', () => {
    fc.assert(
      fc.property(ordinary, fc.integer({ min: 0, max: 10 }), (text, indent) => {
        const canonical = canonicalJson(text)
        expect(canonicalJson(canonical as string)).toBe(canonical)
        expect(canonicalJson(JSON.stringify(reversed(JSON.parse(text)), null, indent))).toBe(canonical)
      }),
    )
  })

  it('is the same exactly where the values are', () => {
    const small = fc.jsonValue({ maxDepth: 2 })
    fc.assert(
      fc.property(small, small, (one, other) => {
        const equal = sorted(one) === sorted(other)
        expect(canonicalJson(JSON.stringify(one)) === canonicalJson(JSON.stringify(other))).toBe(equal)
      }),
    )
  })

  it('exists only where the platform can read it too, and never throws', () => {
    const piece = fc.constantFrom(
      ...'{}[]",:\\ \n01-+.eEu'.split(''),
      '"a"',
      '1.5',
      'null',
      '\\u00e9',
      '\ud800',
      '__proto__',
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        if (canonicalJson(text) !== undefined) expect(() => JSON.parse(text)).not.toThrow()
      }),
      { numRuns: 2000 },
    )
  })
})

/** The platform's own words for a value, with its keys in order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => inOrder(item, (a, b) => (a < b ? -1 : 1)))
}

function reversed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, item: unknown) => inOrder(item, (a, b) => (a < b ? 1 : -1))))
}

function inOrder(item: unknown, compare: (a: string, b: string) => number): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  const copy = Object.create(null) as Record<string, unknown>
  for (const key of Object.keys(item).sort(compare)) copy[key] = (item as Record<string, unknown>)[key]
  return copy
}

describe('a text whose numbers survive floating point', () => {
  it.each(['[]', '[0,-0,0.0,5000,1e21,-2.5e-7]', '123456789012345', '0.123456789012345', '999999999999999e280'])(
    'is %s',
    (text) => expect(readCanonicalJson(text)?.isPortable).toBe(true),
  )

  it.each(['9007199254740993', '[{"a":1152921504606846976}]', '0.1234567890123456', '1e400', '1e-400', '[1,1e999,2]'])(
    'is not %s',
    (text) => expect(readCanonicalJson(text)?.isPortable).toBe(false),
  )

  it('says the same after a parser has read it', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
        fc.integer({ min: -340, max: 340 }),
        (digits, power) => {
          const text = `[${digits}e${power}]`
          const canonical = readCanonicalJson(text)
          if (canonical?.isPortable) expect(canonicalJson(JSON.stringify(JSON.parse(text)))).toBe(canonical.text)
          expect(canonical).toBeDefined()
        },
      ),
    )
  })
})

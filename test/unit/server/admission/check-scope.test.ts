import { describe, expect, it } from 'vitest'
import { isAccidentalScope } from '../../../../src/server/admission/check-scope.ts'

const nobody: { tenant?: string; id?: number } | undefined = undefined as never

describe('a scope that is an accident', () => {
  it.each([
    ['', 'nothing'],
    ['  \t', 'blanks'],
    [String(undefined), 'a value that is not there'],
    [String(null), 'null'],
    [String(Number('x')), 'a number that is none'],
    [String({}), 'an object'],
    [String(Promise.resolve('alice')), 'a promise'],
    [String(new Map()), 'a map'],
    [`tenant-${(nobody as { tenant?: string } | undefined)?.tenant}`, 'a template'],
    ['tenant-undefined ', 'a template with a blank behind it'],
    ['tenant_undefined', 'an underscore'],
    ['acct:null', 'a colon'],
    ['a/NaN', 'a slash'],
    ['a.b undefined', 'a blank'],
    ['Müller–null', 'a dash beyond ASCII'],
    ['\u{1f600}null', 'a sign outside of the first plane'],
    ['tenant[object Object]', 'an object behind a word'],
    ['user:[object Promise]', 'a promise behind a colon'],
  ])('%j (%s) is known', (scope) => expect(isAccidentalScope(scope)).toBe(true))

  it.each([[undefined], [null], [5], [Promise.resolve('a')], [['a']]])('is %s, which is no string', (scope) => {
    expect(isAccidentalScope(scope)).toBe(true)
  })

  it.each([
    'annulled',
    'nullable-co',
    'undefinedness',
    'tenant-annull',
    'ünull',
    '𝐀null',
    'null-island',
    'undefined behaviour inc',
    'bananaNaN',
    'tenant-Null',
    'co[objects]',
    'a[object] b',
    'public',
    '0',
  ])('%j is none', (scope) => expect(isAccidentalScope(scope)).toBe(false))

  it('is found in one look from the end', () => {
    const hostile = '[object '.repeat(1_000_000)
    expect(isAccidentalScope(hostile)).toBe(false)
    expect(isAccidentalScope(`${hostile}]`)).toBe(true)
  })
})

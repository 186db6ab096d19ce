import { describe, expect, test } from 'vitest'
import { nearestName } from '../../../src/configuration/nearest-name.ts'

const KNOWN = ['baseUrl', 'headers', 'retry', 'deadline', 'attemptTimeout', 'maxAttempts', 'journal', 'horizon']

describe('nearestName', () => {
  test.each([
    ['baseURL', 'baseUrl'],
    ['baseUr', 'baseUrl'],
    ['base_url', 'baseUrl'],
    ['header', 'headers'],
    ['haeders', 'headers'],
    ['retries', 'retry'],
    ['maxAttempt', 'maxAttempts'],
    ['max_attempts', 'maxAttempts'],
    ['journel', 'journal'],
    ['timeout', 'attemptTimeout'],
    ['DEADLINE', 'deadline'],
  ])('%s was meant as %s', (given, meant) => {
    expect(nearestName(given, KNOWN)).toBe(meant)
  })

  test.each(['', 'x', 'completelyElse', 'z'.repeat(10_000)])('nothing is near %.20s', (given) => {
    expect(nearestName(given, KNOWN)).toBeUndefined()
  })

  test('two swapped letters are one slip, so the swap beats a substitution', () => {
    expect(nearestName('ba', ['bcd', 'ab'])).toBe('ab')
  })
})

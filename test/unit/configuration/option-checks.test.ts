import { describe, expect, it } from 'vitest'
import { refuseOption, refuseUnknown } from '../../../src/configuration/option-checks.ts'

describe('a refusal', () => {
  it('shows what was given on one line, and nothing in it that a terminal obeys', () => {
    const given = 'a\u001b[31m\r\nFAKE LINE\u2028\u202e'
    const shown = 'a\\u001b[31m\\u000d\\u000aFAKE LINE\\u2028\\u202e'
    expect(() => refuseOption('id', 'a short name', given)).toThrow(`it was given '${shown}'.`)
    expect(() => refuseUnknown('', given, ['id'])).toThrow(`There is no option \`${shown}\`.`)
  })
})

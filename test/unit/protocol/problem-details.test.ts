import { describe, expect, test } from 'vitest'
import { PROBLEM, readProblem, readRefusal } from '../../../src/protocol/problem-details.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const ofType = (type: string) => [['content-type', type]] as const
const PROBLEM_TYPE = 'application/problem+json'

describe('the problem details of an answer', () => {
  test('are its JSON object, extension members included', () => {
    const body = bytes('{"type":"about:blank","status":400,"balance":3}')
    const problem = { type: 'about:blank', status: 400, balance: 3 }
    expect(readProblem(ofType(PROBLEM_TYPE), body)).toEqual(problem)
    expect(readProblem(ofType('Application/Problem+JSON; charset=utf-8'), body)).toEqual(problem)
  })

  test.each(['application/json', 'text/problem', 'a application/problem+json', 'application/problem+jsonx'])(
    'are not in a body of type %j',
    (type) => {
      expect(readProblem(ofType(type), bytes('{}'))).toBeUndefined()
    },
  )

  test('are not in a body without a type, and not in none', () => {
    expect(readProblem([], bytes('{}'))).toBeUndefined()
    expect(readProblem(ofType(PROBLEM_TYPE), null)).toBeUndefined()
  })

  test.each(['', '{', 'null', '[]', '"text"', '1'])('are not %j', (text) => {
    expect(readProblem(ofType(PROBLEM_TYPE), bytes(text))).toBeUndefined()
  })
})

describe('a refusal', () => {
  test.each([PROBLEM_TYPE, 'application/json', 'APPLICATION/JSON; charset=utf-8'])('is read from %j', (type) => {
    expect(readRefusal(ofType(type), bytes('{"code":"x"}'))).toEqual({ code: 'x' })
  })

  test.each(['text/plain', 'a application/json', 'application/jsonx', 'application/problem'])(
    'is not read from %j',
    (type) => {
      expect(readRefusal(ofType(type), bytes('{"code":"x"}'))).toBeUndefined()
    },
  )
})

test('the problem types of the server half are stable', () => {
  expect(Object.values(PROBLEM)).toEqual(
    [
      'key-missing',
      'key-malformed',
      'key-reused',
      'in-flight',
      'body-too-large',
      'outcome-unknown',
      'window-passed',
      'quota-exceeded',
      'unavailable',
      'overloaded',
    ].map((name) => `urn:holdfast:problem:${name}`),
  )
})

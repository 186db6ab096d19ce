import { describe, expect, it } from 'vitest'
import { BodyTooLarge, checkBodySize } from '../../../../src/server/admission/check-request.ts'
import { inDoubtRefusal, isRefusal, problemPage, refusal, reworded } from '../../../../src/server/admission/refusal.ts'

describe('a refusal', () => {
  it.each([
    ['body-too-large', 'body-too-large'],
    ['key-missing', 'key-missing'],
    ['key-malformed', 'key-malformed'],
    ['key-reused', 'key-reused'],
    ['in-flight', 'in-flight'],
    ['outcome-unknown', 'outcome-unknown'],
    ['window-passed', 'window-passed'],
    ['unavailable', 'unavailable'],
    ['written-by-newer', 'unavailable'],
    ['other-version', 'unavailable'],
  ] as const)('for %s leads to the page on %s, and says why in words', (reason, page) => {
    const { problem, body } = refusal(reason)
    expect(problemPage(problem, 'https://shop.example/problems/')).toBe(`https://shop.example/problems/${page}`)
    expect(problem.title).toMatch(/^[A-Z].*\w$/)
    expect(problem.detail).toMatch(/^[A-Z].*\.$/)
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual(problem)
  })

  it('for another version says why it does not compare the two requests', () => {
    expect(refusal('other-version').problem.detail).toMatch(/^Another version .* Retry with the same key\.$/)
  })

  it('is told apart from an answer', () => {
    expect(isRefusal(refusal('in-flight'))).toBe(true)
    expect(isRefusal({ status: 409, headers: [], body: null })).toBe(false)
  })
})

describe('a refusal in doubt', () => {
  it('says what any unavailable ledger says, but no time to come back', () => {
    const plain = refusal('unavailable')
    const inDoubt = inDoubtRefusal()
    expect(plain.headers).toContainEqual(['retry-after', '1'])
    expect(inDoubt).toEqual({ ...plain, headers: [['content-type', 'application/problem+json']] })
  })
})

describe('a refusal in the words of an API', () => {
  const body = new TextEncoder().encode('later')

  it('has the headers of both, and where both have one, that of the API', () => {
    const given = { status: 429, headers: [['x-own', '1']] as const, body }
    expect(reworded(refusal('in-flight'), given)).toEqual({
      status: 429,
      headers: [
        ['retry-after', '1'],
        ['x-own', '1'],
      ],
      body,
    })
    expect(reworded(refusal('in-flight'), { ...given, headers: [['retry-after', '7']] }).headers).toEqual([
      ['retry-after', '7'],
    ])
  })

  it('never has the type of the body that it replaces', () => {
    expect(reworded(refusal('key-missing'), { status: 400, headers: [], body: null }).headers).toEqual([])
  })

  it.each([
    [200, 409],
    [399, 409],
    [400, 400],
    [503, 503],
  ])('with the status %d is a %d: never a success', (said, status) => {
    expect(reworded(refusal('in-flight'), { status: said, headers: [], body }).status).toBe(status)
  })
})

describe('a body', () => {
  it('may be as large as the limit, and no larger', () => {
    expect(() => checkBodySize(null, 0)).not.toThrow()
    expect(() => checkBodySize(new Uint8Array(3), 3)).not.toThrow()
    expect(() => checkBodySize(new Uint8Array(4), 3)).toThrow(BodyTooLarge)
  })

  it('that was parsed counts as JSON spells it, in UTF-8', () => {
    expect(() => checkBodySize({ json: 'é' }, 4)).not.toThrow()
    expect(() => checkBodySize({ json: 'é' }, 3)).toThrow(expect.objectContaining({ name: 'BodyTooLarge' }))
  })
})

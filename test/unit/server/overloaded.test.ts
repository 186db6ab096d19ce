import { describe, expect, it } from 'vitest'
import { ConfigurationError, RejectedError } from '../../../src/index.ts'
import { readProblem } from '../../../src/protocol/problem-details.ts'
import { isReply, overloaded } from '../../../src/server/entry/reply.ts'
import { failure, scenario } from '../../support/client-scenario.ts'

describe('overloaded', () => {
  it('is a 503 that says not to retry, as problem details', () => {
    const answer = overloaded()
    expect(isReply(answer)).toBe(true)
    expect(answer.status).toBe(503)
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'application/problem+json',
      'do-not-retry': 'true',
    })
    expect(readProblem(answer.headers, answer.body)).toMatchObject({
      type: 'urn:holdfast:problem:overloaded',
      status: 503,
      title: 'Overloaded',
    })
  })

  it.each([
    ['30s', '30'],
    [1500, '2'],
    ['2m', '120'],
    [0, '0'],
  ] as const)('tells with retryAfter %s to wait for %s seconds', (retryAfter, seconds) => {
    expect(Object.fromEntries(overloaded({ retryAfter }).headers)['retry-after']).toBe(seconds)
  })

  it('says what it is told to say', () => {
    const { headers, body } = overloaded({ detail: 'The queue is full.' })
    expect(readProblem(headers, body)?.detail).toBe('The queue is full.')
  })

  it('refuses a time that is none', () => {
    expect(() => overloaded({ retryAfter: 'soon' as never })).toThrow(ConfigurationError)
  })

  it('ends a call at its first attempt, for good', async () => {
    const { body, ...init } = overloaded({ retryAfter: '1s' })
    const { client, fetch } = scenario(() => ({
      status: init.status,
      headers: Object.fromEntries(init.headers),
      body: new TextDecoder().decode(body ?? undefined),
    }))
    const error = await failure(client.post('/a'))
    expect(error).toBeInstanceOf(RejectedError)
    expect(error).toMatchObject({ reason: 'do-not-retry', problem: { title: 'Overloaded' } })
    expect(fetch.calls).toHaveLength(1)
    expect(new Response(body as BodyInit, init as ResponseInit).headers.get('do-not-retry')).toBe('true')
  })
})

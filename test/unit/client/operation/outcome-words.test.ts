import { describe, expect, it } from 'vitest'
import { operationError, refOf, settledError, unrecordedError } from '../../../../src/client/operation/outcome.ts'
import type { OperationRecord } from '../../../../src/client/operation/record.ts'
import type { Effect, Reason } from '../../../../src/errors/reason.ts'
import { freshRecord } from '../../../support/shared-record.ts'

const idle = freshRecord({ inFlightSince: undefined })
const response = {
  status: 503,
  statusText: '',
  headers: [['content-type', 'application/problem+json']],
  body: new TextEncoder().encode('{"title":"Busy"}'),
  bodyOmitted: false,
  url: '',
  redirected: false,
} as const

const said = (record: OperationRecord, reason: Reason | undefined, pending = false) =>
  operationError({ record, reason, pending }).message

describe('the sentence of an error', () => {
  it.each<[Reason, string]>([
    ['attempts', 'all attempts failed'],
    ['deadline', 'deadline exceeded'],
    ['horizon', 'horizon exceeded, the server may have forgotten the idempotency key'],
    ['budget', 'retry budget exhausted for this origin'],
    ['breaker', 'circuit breaker is open for this origin'],
    ['do-not-retry', 'the server said not to retry'],
    ['status', 'the server rejected it'],
    ['aborted', 'it was cancelled'],
    ['not-replayable', 'not replayable, a server that ignores idempotency keys could do it twice'],
    ['storage', 'the journal failed'],
    ['key-reuse', 'idempotency key reused with a different request'],
    ['lease-lost', 'lease lost to another runner'],
    ['auth', 'credentials refused or missing'],
    ['poison', 'parked, its runner died too often while working on it'],
    ['network', 'network error'],
  ])('for %s says why', (reason, words) => {
    expect(said(idle, reason)).toBe(`POST https://api.example.com/charges: ${words}. It was not done.`)
  })

  it.each<[Effect, string]>([
    ['none', 'It was not done.'],
    ['unknown', 'It may have been done.'],
    ['applied', 'It was done, but its answer was cut off.'],
  ])('says of the effect %s whether it was done', (effect, words) => {
    expect(said({ ...idle, effect }, 'deadline')).toMatch(new RegExp(`deadline exceeded\\. ${words}$`))
  })

  it('ends with what comes next where it stays pending', () => {
    expect(said(idle, 'deadline', true)).toMatch(/ It was not done\. It stays pending: resume\(\) goes on with it\.$/)
  })

  const tried = {
    ...idle,
    attemptCount: 3,
    attempts: [{ number: 3, startedAt: 0, durationMs: 1, fault: 'ECONNREFUSED' }],
  }

  it.each<[Reason, string]>([
    ['attempts', 'all attempts failed'],
    ['deadline', 'deadline exceeded'],
    ['horizon', 'horizon exceeded, the server may have forgotten the idempotency key'],
    ['budget', 'retry budget exhausted for this origin'],
    ['breaker', 'circuit breaker is open for this origin'],
    ['do-not-retry', 'the server said not to retry'],
    ['not-replayable', 'not replayable, a server that ignores idempotency keys could do it twice'],
  ])('begins with the failure, and ends with the limit %s', (reason, limit) => {
    expect(said(tried, reason)).toBe(
      `POST https://api.example.com/charges: no answer after 3 attempts: ECONNREFUSED. It was not done. Stopped: ${limit}.`,
    )
  })

  it('names the last answer, or else the last failure in its own words', () => {
    const error = { detail: 'ECONNRESET: socket hang up', retryAt: undefined }
    const failed = { ...tried, error, attemptCount: 1 }
    expect(said(failed, 'attempts')).toContain('/charges: no answer after 1 attempt: ECONNRESET: socket hang up. ')
    expect(said({ ...tried, error, response }, 'budget')).toContain('/charges: status 503 after 3 attempts. ')
  })

  it('adds the answer or the failure to a reason that is no limit', () => {
    expect(said({ ...tried, response }, 'status')).toContain('/charges: the server rejected it: status 503. It was')
    expect(said(tried, 'auth')).toContain('/charges: credentials refused or missing: ECONNREFUSED. It was')
  })

  it('says how it ended, or that we failed ourselves, where there is no reason', () => {
    expect(said({ ...idle, status: 'cancelled' }, undefined)).toContain('/charges: cancelled. ')
    expect(said(idle, undefined)).toContain('/charges: Holdfast itself failed, see the cause. ')
  })
})

describe('the error of an operation', () => {
  it('carries the answer, its problem, and when the server would have it again', () => {
    const error = settledError({
      ...idle,
      status: 'rejected',
      reason: 'do-not-retry',
      response,
      error: { detail: undefined, retryAt: 7 },
    })
    expect(error).toMatchObject({ retryAt: 7, problem: { title: 'Busy' }, response: { status: 503 }, effect: 'none' })
  })

  it('carries its cause, and the rest of the answer that is not held', async () => {
    const rest = new Response('later', { status: 503 })
    const cause = new Error('cut off')
    const record: OperationRecord = { ...idle, status: 'failed', reason: 'network', response, effect: 'unknown' }
    expect(settledError(record, { cause, rest })).toMatchObject({ cause, response: rest })
  })

  it('takes an answer of a failed operation that did nothing for a refusal', () => {
    expect(settledError({ ...idle, status: 'failed', reason: 'attempts', response }).name).toBe('RejectedError')
  })

  it('says unknown of a refusal that contradicts an answer whose body was lost', () => {
    const done: OperationRecord = { ...idle, status: 'rejected', response, effect: 'applied' }
    expect(settledError({ ...done, reason: 'status' })).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
    expect(settledError({ ...done, reason: 'key-reuse' })).toMatchObject({ name: 'KeyReuseError', effect: 'unknown' })
  })

  it('refers to the operation by what names it', () => {
    expect(refOf({ ...idle, id: 'order:1', name: 'charge' })).toEqual({ key: idle.key, id: 'order:1', name: 'charge' })
  })
})

describe('a call without a record', () => {
  const call = {
    method: 'POST',
    origin: 'https://api.example.com',
    operation: { key: 'k', id: undefined, name: undefined },
    named: false,
  }

  it('was not done where nothing names its operation', () => {
    const error = unrecordedError(call, { reason: 'breaker', retryAt: 7, pending: false })
    expect(error).toMatchObject({ name: 'NotSentError', effect: 'none', reason: 'breaker', retryAt: 7, pending: false })
    expect(error.operation).toEqual(call.operation)
    expect(error.message).toBe(
      'POST https://api.example.com: circuit breaker is open for this origin. Nothing was sent: it was not done.',
    )
  })

  it('may have been done by an earlier call where an id or a key names it', () => {
    const why = { reason: 'aborted', because: 'the client was closed', code: 'HOLDFAST_CLOSED' } as const
    const error = unrecordedError({ ...call, named: true }, why)
    expect(error).toMatchObject({
      name: 'IndeterminateError',
      effect: 'unknown',
      code: 'HOLDFAST_CLOSED',
      pending: true,
    })
    expect(error.message).toBe(
      'POST https://api.example.com: the client was closed. Nothing was sent, ' +
        'but an earlier call with this id or key may have done it, or still will: the journal could not be asked.',
    )
  })
})

import { describe, expect, it } from 'vitest'
import { errorForCall, operationError, settledError } from '../../../../src/client/operation/outcome.ts'
import type { OperationRecord } from '../../../../src/client/operation/record.ts'
import { StorageError } from '../../../../src/errors/classes.ts'
import { freshRecord } from '../../../support/shared-record.ts'

const idle = freshRecord({ inFlightSince: undefined })

function answered(status: number, more: Partial<OperationRecord>): OperationRecord {
  const response = { status, statusText: '', headers: [], body: null, bodyOmitted: false, url: '', redirected: false }
  return { ...idle, response, ...more }
}

describe('the error of an operation', () => {
  const cases: [string, OperationRecord, { name: string; effect: string }][] = [
    [
      'that was refused',
      answered(400, { status: 'rejected', reason: 'status' }),
      { name: 'RejectedError', effect: 'none' },
    ],
    [
      'that was refused by a 5xx for good',
      answered(500, { status: 'rejected', reason: 'do-not-retry', effect: 'unknown' }),
      { name: 'RejectedError', effect: 'unknown' },
    ],
    [
      'that was never sent',
      { ...idle, status: 'failed', reason: 'attempts' },
      { name: 'NotSentError', effect: 'none' },
    ],
    [
      'that may have been done',
      { ...idle, status: 'failed', reason: 'deadline', effect: 'unknown' },
      { name: 'IndeterminateError', effect: 'unknown' },
    ],
    [
      'whose 503 is all that is known',
      answered(503, { status: 'failed', reason: 'attempts', effect: 'unknown' }),
      { name: 'IndeterminateError', effect: 'unknown' },
    ],
    [
      'that was done and whose answer was lost',
      { ...idle, status: 'failed', reason: 'network', effect: 'applied' },
      { name: 'IndeterminateError', effect: 'applied' },
    ],
    [
      'that expired unsent',
      { ...idle, status: 'expired', reason: 'horizon' },
      { name: 'NotSentError', effect: 'none' },
    ],
    [
      'that expired in the dark',
      { ...idle, status: 'expired', reason: 'horizon', effect: 'unknown' },
      { name: 'IndeterminateError', effect: 'unknown' },
    ],
    [
      'that was cancelled in time',
      { ...idle, status: 'cancelled', reason: 'aborted' },
      { name: 'NotSentError', effect: 'none' },
    ],
    [
      'whose key was used before',
      answered(422, { status: 'rejected', reason: 'key-reuse' }),
      { name: 'KeyReuseError', effect: 'none' },
    ],
    [
      'whose journal failed',
      { ...idle, status: 'failed', reason: 'storage', effect: 'unknown' },
      { name: 'StorageError', effect: 'unknown' },
    ],
  ]
  for (const [what, record, expected] of cases) {
    it(`${what} is a ${expected.name} with the effect ${expected.effect}`, () => {
      const error = settledError(record)
      expect(error).toMatchObject({ ...expected, pending: false, reason: record.reason })
      expect(error.operation).toEqual({ key: record.key, id: undefined, name: undefined })
    })
  }

  it('says nothing of the query, in which secrets travel', () => {
    const { request } = idle
    const record = { ...idle, request: { ...request, url: 'https://api.example.com/charges?token=hush' } }
    expect(operationError({ record, reason: 'deadline', pending: true }).message).not.toContain('hush')
  })
})

describe('a journal that can not be asked', () => {
  it('leaves a call without a name undone, and one with a name unknown and perhaps pending', () => {
    const operation = { key: 'k', id: undefined, name: undefined }
    const failed = new StorageError('There is no disk')
    expect(errorForCall(failed, { operation, named: false })).toMatchObject({ effect: 'none', pending: false })
    expect(errorForCall(failed, { operation, named: true })).toMatchObject({ effect: 'unknown', pending: true })
  })
})

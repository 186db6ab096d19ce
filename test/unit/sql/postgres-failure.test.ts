import { describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { isAnswered, isConflict, postgresFailure } from '../../../src/sql/postgres-failure.ts'

const coded = (code: string, message = 'as the driver says') => Object.assign(new Error(message), { code })

describe('a failure', () => {
  it.each([
    ['ECONNREFUSED', 'the connection was refused'],
    ['ENOTFOUND', 'no address'],
    ['28P01', 'refused the user or the password'],
    ['28000', 'refused the user or the password'],
    ['3D000', 'no such database'],
    ['42501', 'lacks the permission'],
    ['25006', 'read-only'],
    ['40001', 'could not serialize'],
    ['40P01', 'deadlock'],
    ['53300', 'too many connections'],
    ['57014', 'statement_timeout'],
    ['57P01', 'ended the connection'],
    ['57P03', 'starting up'],
    ['08006', 'lost the connection'],
    ['25P03', 'idle_in_transaction_session_timeout'],
  ])('of code %s says that it %s', (code, words) => {
    const error = coded(code)
    const failure = postgresFailure(error, 'The ledger')
    expect(failure).toBeInstanceOf(StorageError)
    expect(failure.message).toMatch(/^The ledger /)
    expect(failure.message).toContain(words)
    expect(failure.message).toContain(`(${code})`)
    expect(failure.cause).toBe(error)
  })

  it.each([
    ['Cannot use a pool after calling end on the pool', 'the pool has been ended'],
    ['timeout exceeded when trying to connect', 'no connection became free in time'],
    ['Query read timeout', 'did not answer in time'],
    ['Connection terminated unexpectedly', 'lost the connection'],
    ['Client has encountered a connection error and is not queryable', 'lost the connection'],
  ])('in the words of the driver, %s, is told as %s', (words, sentence) => {
    expect(postgresFailure(new Error(words), 'The ledger').message).toContain(sentence)
  })

  it('that nobody has heard of keeps its own words', () => {
    expect(postgresFailure(coded('XX000', 'strange'), 'It').message).toBe('It failed: strange (XX000)')
    expect(postgresFailure('strange', 'It').message).toBe('It failed: strange')
  })

  it('of several addresses is told once', () => {
    const all = new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])
    expect(postgresFailure(all, 'It').message).toContain('the connection was refused')
  })

  it('that is ours already stays what it is', () => {
    const error = new StorageError('known')
    expect(postgresFailure(error, 'It')).toBe(error)
  })
})

it('tells what may be tried again from what may not', () => {
  expect(['40001', '40P01', '23505', 'ECONNRESET'].map((code) => isConflict(coded(code)))).toEqual([
    true,
    true,
    false,
    false,
  ])
})

it('tells an answer of the server from a connection that broke', () => {
  expect(['40001', '23505', '53300', 'XX000'].map((code) => isAnswered(coded(code)))).toEqual([true, true, true, true])
  const broken = ['57P01', '57P02', '08006', '25P03', 'EPIPE', 'ECONNRESET', 'ETIMEDOUT']
  expect(broken.filter((code) => isAnswered(coded(code)))).toEqual([])
  expect(isAnswered(new Error('Connection terminated unexpectedly'))).toBe(false)
})

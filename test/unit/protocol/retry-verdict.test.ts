import { describe, expect, test } from 'vitest'
import type { HeaderList } from '../../../src/protocol/headers.ts'
import { readRetryVerdict } from '../../../src/protocol/retry-verdict.ts'

const NAMES = {
  stop: ['do-not-retry'],
  shouldRetry: ['x-should-retry', 'stripe-should-retry'],
  pushback: ['grpc-retry-pushback-ms'],
}

function verdict(...headers: HeaderList): string | undefined {
  return readRetryVerdict(headers, NAMES)
}

describe('readRetryVerdict', () => {
  test.each([
    ['do-not-retry', 'true', 'stop'],
    ['do-not-retry', ' TRUE ', 'stop'],
    ['do-not-retry', '1', 'stop'],
    ['do-not-retry', '?1', 'stop'],
    ['do-not-retry', 'true, true', 'stop'],
    ['do-not-retry', 'false, true', 'stop'],
    ['do-not-retry', 'false', undefined],
    ['do-not-retry', '0', undefined],
    ['do-not-retry', '?0', undefined],
    ['do-not-retry', '', undefined],
    ['do-not-retry', 'yes', undefined],
    ['x-should-retry', 'false', 'stop'],
    ['x-should-retry', ' False', 'stop'],
    ['x-should-retry', 'true', 'retry'],
    ['x-should-retry', 'TRUE', 'retry'],
    ['x-should-retry', 'true, false', 'stop'],
    ['x-should-retry', 'true, true', 'retry'],
    ['x-should-retry', 'maybe', undefined],
    ['x-should-retry', 'true, maybe', undefined],
    ['x-should-retry', '', undefined],
    ['stripe-should-retry', 'false', 'stop'],
    ['stripe-should-retry', 'true', 'retry'],
    ['grpc-retry-pushback-ms', '-1', 'stop'],
    ['grpc-retry-pushback-ms', ' -200 ', 'stop'],
    ['grpc-retry-pushback-ms', '-1.25', 'stop'],
    ['grpc-retry-pushback-ms', '-1e3', undefined],
    ['grpc-retry-pushback-ms', '-1e-5', undefined],
    ['content-length', '-1', undefined],
    ['grpc-retry-pushback-ms', '0', undefined],
    ['grpc-retry-pushback-ms', '-0', undefined],
    ['grpc-retry-pushback-ms', '250', undefined],
    ['grpc-retry-pushback-ms', '-soon', undefined],
    ['grpc-retry-pushback-ms', '', undefined],
    ['content-type', 'true', undefined],
  ])('%s: %s means %s', (name, value, expected) => {
    expect(verdict([name, value])).toBe(expected)
  })

  test('a stop beats a retry, in whichever order they come', () => {
    expect(verdict(['x-should-retry', 'true'], ['do-not-retry', 'true'])).toBe('stop')
    expect(verdict(['do-not-retry', 'true'], ['x-should-retry', 'true'])).toBe('stop')
    expect(verdict(['x-should-retry', 'true'], ['grpc-retry-pushback-ms', '-1'])).toBe('stop')
    expect(verdict(['x-should-retry', 'true'], ['stripe-should-retry', 'false'])).toBe('stop')
  })

  test('what makes no sense does not hide what does', () => {
    expect(verdict(['x-should-retry', 'maybe'], ['stripe-should-retry', 'true'])).toBe('retry')
  })

  test('hears the configured names and no others', () => {
    const names = { stop: ['x-final'], shouldRetry: [], pushback: [] }
    expect(readRetryVerdict([['x-final', 'true']], names)).toBe('stop')
    expect(readRetryVerdict([['do-not-retry', 'true']], names)).toBeUndefined()
  })

  test('an answer without such headers says nothing', () => {
    expect(verdict()).toBeUndefined()
  })
})

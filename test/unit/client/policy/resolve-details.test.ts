import { describe, expect, test } from 'vitest'
import type { ClientOptions } from '../../../../src/client/options.ts'
import { resolveOptions } from '../../../../src/client/policy/resolve-options.ts'
import { DEFAULT_RETRY, resolveRetry } from '../../../../src/client/policy/resolve-retry.ts'
import { ConfigurationError } from '../../../../src/errors/classes.ts'

const NODE = { sendHeaders: true }
const PAGE = { sendHeaders: false, pageOrigin: 'https://shop.example' }

const refusalOf = (options: unknown, platform: typeof NODE = NODE): string => {
  try {
    resolveOptions(options as ClientOptions, platform)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
  throw new Error('These options were taken')
}

test.each<ClientOptions>([
  { honoursKeys: true },
  { honoursKeys: false },
  { honoursKeys: () => true },
  { keyHeader: { format: 'bare' } },
  { onGiveUp: 'fail' },
  { durable: true },
  { durable: false },
  { durable: false, onGiveUp: 'fail' },
  { durable: true, onGiveUp: 'keep' },
  { journal: false },
  { trustedOrigins: ['https://a.example'], headers: { a: 'b' } },
  { retry: { statuses: [300, 599] } },
])('takes %j', (options) => {
  expect(() => resolveOptions(options, NODE)).not.toThrow()
})

test('leaves a retry that is not given to the fallback', () => {
  expect(resolveRetry(undefined, DEFAULT_RETRY)).toBe(DEFAULT_RETRY)
})

test.each([
  [{ base: 100 }, false],
  [{ cap: '20s' }, false],
  [{ jitter: 'full' }, false],
  [{ base: undefined, maxAttempts: 3, statuses: [503] }, true],
  [false, true],
] as const)('spreads its retries unless their delays are set: %j', (given, spreads) => {
  const resolved = resolveRetry(given, DEFAULT_RETRY)
  expect(resolved.spreads).toBe(spreads)
  // What a client has set is not undone by a call.
  expect(resolveRetry({ maxAttempts: 2 }, resolved).spreads).toBe(spreads)
})

describe('says what an option must be', () => {
  test.each([
    [{ honoursKeys: 'yes' }, 'honoursKeys', 'true, false, or a function of the URL and the method'],
    [{ journal: 'memory' }, 'journal', "a journal, { fallback: 'memory' }, or false"],
    [{ budget: true }, 'budget', 'an object, a RetryBudget, or false for none'],
    [{ breaker: true }, 'breaker', 'an object, or false for none'],
    [{ limits: { concurrency: '10' } }, 'limits.concurrency', 'a whole number of at least 1'],
    [{ doNotRetry: { stop: 'x' } }, 'doNotRetry.stop', 'an array of header names'],
    [{ trustedOrigins: 'x' }, 'trustedOrigins', 'an array of origins'],
    [{ retry: { statuses: 503 } }, 'retry.statuses', 'an array of statuses'],
    [{ retry: { statuses: [299] } }, 'retry.statuses', 'made of statuses from 300 to 599 (a 2xx is never retried)'],
    [{ retry: { statuses: [600] } }, 'retry.statuses', 'made of statuses from 300 to 599 (a 2xx is never retried)'],
    [{ baseUrl: 'https://a.example/#part' }, 'baseUrl', 'without a query or fragment'],
    [{ baseUrl: ['https://a.example'] }, 'baseUrl', 'a full http or https URL'],
    [
      { trustedOrigins: ['https://a.example/#part'] },
      'trustedOrigins',
      "made of origins such as 'https://api.example.com', without a path",
    ],
  ])('%j', (options, option, expected) => {
    expect(refusalOf(options)).toContain(`The option \`${option}\` must be ${expected}; it was given `)
  })

  test('and shows a value that is no URL as it is', () => {
    expect(refusalOf({ baseUrl: 42 })).toBe('The option `baseUrl` must be a full http or https URL; it was given 42.')
  })

  test('and takes nothing but a string for a path of the page', () => {
    expect(refusalOf({ baseUrl: ['/api'] }, PAGE)).toContain('`baseUrl` must be a full http or https URL')
  })
})

describe('refuses together', () => {
  test.each([
    [{ durable: true, journal: false }, 'The options `durable: true` and `journal: false` exclude each other.'],
    [{ durable: false, onGiveUp: 'keep' }, "The options `durable: false` and `onGiveUp: 'keep'` exclude each other."],
    [{ headers: { a: 'b' } }, 'The option `headers` needs `baseUrl` or `trustedOrigins`: it is sent there only.'],
    [
      { baseUrl: 'https://:word@a.example' },
      'The option `baseUrl` must not carry credentials; put them into `headers`.',
    ],
    [{ baseUrl: 'https://ann@a.example' }, 'The option `baseUrl` must not carry credentials; put them into `headers`.'],
  ])('%j', (options, sentence) => {
    expect(refusalOf(options)).toBe(sentence)
  })
})

import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../../../src/errors/classes.ts'
import { onAbandonedOf } from '../../../src/server/admission/admit.ts'
import { createLedger, type LedgerOptions, memoryLedger } from '../../../src/server/index.ts'
import { resolveProtection } from '../../../src/server/resolve-ledger-options.ts'

const good = { store: memoryLedger(), scope: 'public' } as const

function refusalOf(options: object): string {
  try {
    createLedger({ ...good, ...options } as LedgerOptions)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
  return 'accepted'
}

describe('the options of a ledger', () => {
  it.each([
    [{ store: undefined }, /`store` is missing/],
    [{ store: {} }, /`store` must be an object with insert\(\)/],
    [{ scope: undefined }, /`scope` is missing.*'public'/],
    [{ scope: '' }, /`scope` must be/],
    [{ scope: 7 }, /`scope` must be/],
    [{ retenion: '1h' }, /no option `retenion`. Did you mean `retention`/],
    [{ retention: 'a day' }, /`retention` must be/],
    [{ retention: 0 }, /`retention` must be longer than 0/],
    [{ lease: '25h' }, /`lease` .* must be shorter than `retention`/],
    [{ timeout: '60s' }, /`timeout` .* must be shorter than `lease`/],
    [{ inFlight: 'queue' }, /`inFlight` must be 'reject' or 'wait'/],
    [{ required: 'yes' }, /`required` must be true or false/],
    [{ methods: 'POST' }, /`methods` must be an array/],
    [{ methods: ['PO ST'] }, /`methods\[0\]` must be a name of HTTP/],
    [{ keyHeader: 'a b' }, /`keyHeader` must be a name of HTTP/],
    [{ store5xx: 1 }, /`store5xx` must be true or false/],
    [{ maxResponseBytes: -1 }, /`maxResponseBytes` must be a whole number/],
    [{ dropHeaders: ['a:'] }, /`dropHeaders\[0\]`/],
    [{ quota: 0 }, /`quota` must be/],
    [{ observe: {} }, /`observe` must be a function/],
    [{ authorize: true }, /`authorize` must be a function/],
    [{ reconcile: 'ask' }, /`reconcile` must be a function/],
    [{ onAbandoned: 'retry' }, /`onAbandoned` must be 'rerun' or 'hold'/],
    [{ clock: {} }, /`clock` must be an object with now\(\), sleep\(\)/],
  ])('%j is refused', (options, sentence) => {
    expect(refusalOf(options)).toMatch(sentence)
  })

  it('are taken where they make sense', () => {
    expect(
      refusalOf({ retention: '7d', lease: '5m', timeout: '4m', inFlight: 'wait', waitFor: 0, maxResponseBytes: 0 }),
    ).toBe('accepted')
  })

  it('of a handler are checked when it is protected', () => {
    const ledger = createLedger(good)
    expect(() => ledger.protect(async () => new Response(), { externl: true } as never)).toThrow(
      /no option `externl`. Did you mean `external`/,
    )
  })

  it.each([
    ['the ledger', { ledger: { onAbandoned: 'hold' }, handler: {}, is: 'hold' }],
    ['the ledger, also beside others', { ledger: { onAbandoned: 'hold' }, handler: { external: false }, is: 'hold' }],
    ['the ledger, not unsaid by nothing', { ledger: { external: true }, handler: { external: undefined }, is: 'hold' }],
    ['the handler', { ledger: { onAbandoned: 'hold' }, handler: { onAbandoned: 'rerun' }, is: 'rerun' }],
    ['nobody: what is external is held', { ledger: {}, handler: { external: true }, is: 'hold' }],
    ['nobody: the rest runs again', { ledger: {}, handler: { external: false }, is: 'rerun' }],
  ] as const)('of a handler are those of %s', (_who, { ledger, handler, is }) => {
    expect(onAbandonedOf(resolveProtection(ledger, handler))).toBe(is)
  })

  it('can name another header for the key', async () => {
    const ledger = createLedger({ ...good, keyHeader: 'PayPal-Request-Id' })
    let runs = 0
    const handler = ledger.protect(async () => new Response(String(++runs)))
    const ask = () =>
      handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'paypal-request-id': 'k' } }))
    expect([await (await ask()).text(), await (await ask()).text()]).toEqual(['1', '1'])
  })
})

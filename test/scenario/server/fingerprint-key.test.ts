import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../../../src/errors/classes.ts'
import type { LedgerStore } from '../../../src/server/adapter/index.ts'
import { composeLedger } from '../../../src/server/compose-ledger.ts'
import { aesGcm, json, type LedgerOptions, type MemoryTransaction, memoryLedger } from '../../../src/server/index.ts'
import { ask, gate, protectedShop } from '../../support/protected-shop.ts'

type Secrets = Pick<LedgerOptions, 'encryption' | 'fingerprintKey'>

const bytes = (fill: number) => new Uint8Array(32).fill(fill)
const pin = (digits: string) => ask('k', { body: `{"pin":"${digits}"}` })

const onStore = (store: LedgerStore<MemoryTransaction>, secrets: Secrets) =>
  protectedShop({ ...secrets, store } as Parameters<typeof protectedShop>[0])

/** What a reader of the store finds out by trying all PINs, as a ledger without a secret makes its digests. */
async function guessedPin(store: LedgerStore<MemoryTransaction>): Promise<string | undefined> {
  const { fingerprint = '' } = (await store.find('public', 'k')) ?? {}
  for (let number = 0; number < 10_000; number++) {
    const digits = String(number).padStart(4, '0')
    const head = JSON.stringify(['public', 'POST', '/orders', '', 'json'])
    const digest = createHash('sha256').update(`${head}{"pin":"${digits}"}`).digest('hex')
    // With the name of the secret too, which stands beside it, in place of the secret.
    const [, , id = ''] = fingerprint.split(/[/:]/)
    const hashed = createHmac('sha256', id).update(digest).digest('hex')
    if (fingerprint.endsWith(digest) || fingerprint.endsWith(hashed)) return digits
  }
  return undefined
}

describe('a stored fingerprint', () => {
  it('without a secret lets a PIN be guessed', async () => {
    const store = memoryLedger()
    await onStore(store, {}).placeOrder(pin('7391'))
    expect(await guessedPin(store)).toBe('7391')
  })

  it.each<[string, Secrets]>([
    ['`encryption`', { encryption: aesGcm(bytes(1)) }],
    ['`fingerprintKey` of bytes', { fingerprintKey: bytes(1) }],
    ['`fingerprintKey` of text', { fingerprintKey: 'a secret of some length' }],
    ['both', { fingerprintKey: [bytes(1), bytes(2)], encryption: aesGcm(bytes(3)) }],
  ])('with %s does not', async (_, secrets) => {
    const store = memoryLedger()
    const { placeOrder } = onStore(store, secrets)
    await placeOrder(pin('7391'))
    expect(await guessedPin(store)).toBeUndefined()
    expect((await placeOrder(pin('7391'))).headers.get('idempotency-replayed')).toBe('true')
    expect((await placeOrder(pin('7392'))).status).toBe(422)
  })
})

describe('a retry after the secret was', () => {
  it.each<[string, Secrets, Secrets]>([
    ['introduced', {}, { fingerprintKey: bytes(1) }],
    ['introduced with encryption', {}, { encryption: aesGcm(bytes(1)) }],
    ['changed', { fingerprintKey: bytes(1) }, { fingerprintKey: [bytes(2), bytes(1)] }],
    [
      'changed with the key of the encryption',
      { encryption: aesGcm(bytes(1)) },
      { encryption: aesGcm(bytes(2), { also: [bytes(1)] }) },
    ],
    [
      'given beside encryption',
      { encryption: aesGcm(bytes(1)) },
      { encryption: aesGcm(bytes(1)), fingerprintKey: bytes(2) },
    ],
  ])('%s is replayed, and another request is refused', async (_, before, after) => {
    const store = memoryLedger()
    await onStore(store, before).placeOrder(pin('7391'))
    const { placeOrder, orders } = onStore(store, after)
    expect((await placeOrder(pin('7391'))).headers.get('idempotency-replayed')).toBe('true')
    expect((await placeOrder(pin('7392'))).status).toBe(422)
    expect(orders).toEqual([])
  })

  it.each<[string, Secrets, Secrets]>([
    ['forgotten', { fingerprintKey: bytes(1) }, {}],
    ['changed without the old one', { fingerprintKey: bytes(1) }, { fingerprintKey: bytes(2) }],
  ])('%s is neither refused for good nor run', async (_, before, after) => {
    const store = memoryLedger()
    await onStore(store, before).placeOrder(pin('7391'))
    const { placeOrder, orders, events } = onStore(store, after)
    expect((await placeOrder(pin('7391'))).status).toBe(503)
    expect(events.at(-1)).toMatchObject({ type: 'request.refused', reason: 'other-version' })
    expect(orders).toEqual([])
  })

  it('changed is not refused for good while the first one is in flight in another replica', async () => {
    const store = memoryLedger()
    const { opened, open } = gate()
    const [old, fresh] = [bytes(1), [bytes(2), bytes(1)]].map((fingerprintKey) => onStore(store, { fingerprintKey }))
    const serve = (shop: typeof old) => shop?.ledger.atomic(() => opened.then(() => json({})) as never)
    const first = serve(old)?.(pin('7391'))
    await new Promise((resolve) => setImmediate(resolve))
    expect((await serve(fresh)?.(pin('7391')))?.status).toBe(409)
    open()
    expect((await first)?.status).toBe(200)
    expect((await serve(fresh)?.(pin('7391')))?.headers.get('idempotency-replayed')).toBe('true')
  })
})

describe('the option `fingerprintKey`', () => {
  it.each([['too short'], [new Uint8Array(15)], [''], [[]], [[bytes(1), 'short']], [5], [{}]])(
    'is refused if it is %j',
    (fingerprintKey) => {
      const refused = () => protectedShop({ fingerprintKey: fingerprintKey as never })
      expect(refused).toThrow(ConfigurationError)
      expect(refused).toThrow('The option `fingerprintKey` must be a secret of at least 16 bytes')
    },
  )

  it('is asked for by an encryption that has no secret of its own', () => {
    const encryption = { seal: (text: Uint8Array) => text, open: (text: Uint8Array) => text }
    const sentences: string[] = []
    const make = (more: object) => {
      const platform = { digest: () => '', decodeBody: () => undefined, warn: (text: string) => sentences.push(text) }
      return composeLedger(platform, { store: memoryLedger(), scope: 'public', encryption, ...more })
    }
    make({ fingerprintKey: bytes(1) })
    expect(sentences).toEqual([])
    make({})
    expect(sentences).toEqual([expect.stringContaining('`fingerprintKey`')])
  })
})

import { describe, expect, it } from 'vitest'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'

const ledger = createLedger({ store: memoryLedger(), scope: 'public' })
let keys = 0

function posted(init: RequestInit = {}): Request {
  const headers = { 'idempotency-key': `key-${++keys}`, 'content-type': 'application/json', 'x-own': 'kept' }
  return new Request('http://shop.test/charges?a=1', { method: 'POST', body: '{"amount":5}', headers, ...init })
}

/** Serves a request, and gives back what the handler made of its own. */
async function seenBy<T>(request: Request, look: (handed: Request) => T | Promise<T>): Promise<T> {
  let seen: { readonly value: T } | undefined
  const handler = ledger.protect(async (handed) => {
    seen = { value: await look(handed) }
    return json({})
  })
  expect((await handler(request)).status).toBe(200)
  return (seen as { readonly value: T }).value
}

describe('the request of a protected handler', () => {
  it('can be read although the ledger has read it', async () => {
    expect(await seenBy(posted(), (handed) => handed.json())).toEqual({ amount: 5 })
    expect(await seenBy(posted(), (handed) => handed.text())).toBe('{"amount":5}')
    const form = new FormData()
    form.set('amount', '5')
    const withForm = new Request('http://shop.test/', {
      method: 'POST',
      body: form,
      headers: { 'idempotency-key': 'f' },
    })
    expect(await seenBy(withForm, async (handed) => (await handed.formData()).get('amount'))).toBe('5')
  })

  it('says the same as the one that came', async () => {
    const seen = await seenBy(posted(), ({ url, method, headers }) => [url, method, headers.get('x-own')])
    expect(seen).toEqual(['http://shop.test/charges?a=1', 'POST', 'kept'])
  })

  it('can be passed on', async () => {
    expect(await seenBy(posted(), (handed) => new Request('http://other.test/', handed).text())).toBe('{"amount":5}')
    expect(await seenBy(posted(), (handed) => handed.clone().text())).toBe('{"amount":5}')
  })

  it('aborts as the one that came does', async () => {
    const caller = new AbortController()
    const request = posted({ signal: caller.signal })
    const signal = await seenBy(request, (handed) => handed.signal)
    expect(signal.aborted).toBe(false)
    caller.abort()
    expect(signal.aborted).toBe(true)
  })

  it('is the very one that came where a framework has made it its own', async () => {
    class OwnRequest extends Request {
      readonly account = 'a-1'
    }
    const init = { method: 'POST', body: '{}', headers: { 'idempotency-key': 'own' } }
    const request = new OwnRequest('http://shop.test/', init)
    expect(await seenBy(request, (handed) => handed)).toBe(request)
    const marked = Object.assign(posted(), { account: 'a-2' })
    expect(await seenBy(marked, async (handed) => [handed === marked, await handed.text()])).toEqual([
      true,
      '{"amount":5}',
    ])
  })

  it('is the very one that came where it has no body', async () => {
    const request = posted({ body: null })
    expect(await seenBy(request, (handed) => handed)).toBe(request)
  })
})

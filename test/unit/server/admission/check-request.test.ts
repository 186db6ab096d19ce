import { describe, expect, it } from 'vitest'
import { checkRequest, type RequestPolicy } from '../../../../src/server/admission/check-request.ts'

const NOW = Date.UTC(2025, 0, 2, 12)
const policy: RequestPolicy = {
  methods: new Set(['POST', 'PATCH', 'PUT', 'DELETE']),
  required: true,
  keyHeader: 'idempotency-key',
  maxRequestBytes: 1000,
  retentionMs: 86_400_000,
}

const ask = (method: string, headers: readonly (readonly [string, string])[] = []) => ({ method, headers })
const keyed = (key: string, ...more: [string, string][]) => ask('POST', [['idempotency-key', key], ...more])
const refused = (reason: string) => ({ kind: 'refuse', reason })

describe('the head of a request', () => {
  it.each(['GET', 'HEAD', 'OPTIONS', 'TRACE'])('lets %s pass, with or without a key', (method) => {
    expect(checkRequest(ask(method), policy, NOW)).toEqual({ kind: 'pass' })
    expect(checkRequest(ask(method, [['idempotency-key', 'k']]), policy, NOW)).toEqual({ kind: 'pass' })
  })

  it.each(['POST', 'PATCH'])('needs a key for %s, where keys are required', (method) => {
    expect(checkRequest(ask(method), policy, NOW)).toEqual(refused('key-missing'))
    expect(checkRequest(ask(method), { ...policy, required: false }, NOW)).toEqual({ kind: 'pass' })
  })

  it.each(['PUT', 'DELETE'])('needs none for %s, which says itself what the end is', (method) => {
    expect(checkRequest(ask(method), policy, NOW)).toEqual({ kind: 'pass' })
    expect(checkRequest(ask(method, [['idempotency-key', 'k']]), policy, NOW)).toEqual({ kind: 'protect', key: 'k' })
  })

  it('takes a key bare or in quotes, as the same key', () => {
    expect(checkRequest(keyed('abc'), policy, NOW)).toEqual({ kind: 'protect', key: 'abc' })
    expect(checkRequest(keyed('"abc"'), policy, NOW)).toEqual({ kind: 'protect', key: 'abc' })
  })

  it.each(['', 'a, b', 'a b', 'é', 'x'.repeat(256), 'a\tb', '"'])('refuses the key %j', (key) => {
    expect(checkRequest(keyed(key), policy, NOW)).toEqual(refused('key-malformed'))
  })

  it('refuses two keys', () => {
    const headers = [
      ['idempotency-key', 'a'],
      ['idempotency-key', 'b'],
    ] as const
    expect(checkRequest(ask('POST', headers), policy, NOW)).toEqual(refused('key-malformed'))
  })

  it('refuses what was first sent before keys are remembered, to the second', () => {
    const sent = (at: number): [string, string] => ['repeatability-first-sent', new Date(at).toUTCString()]
    const window = policy.retentionMs
    expect(checkRequest(keyed('k', sent(NOW - window)), policy, NOW)).toEqual(refused('window-passed'))
    expect(checkRequest(keyed('k', sent(NOW - window + 1000)), policy, NOW)).toEqual({ kind: 'protect', key: 'k' })
    expect(checkRequest(keyed('k', sent(NOW + window)), policy, NOW)).toEqual({ kind: 'protect', key: 'k' })
    expect(checkRequest(keyed('k', ['repeatability-first-sent', 'yesterday']), policy, NOW).kind).toBe('protect')
  })

  it('reads the key from the header that was named', () => {
    const named = { ...policy, keyHeader: 'x-request-key' }
    expect(checkRequest(ask('POST', [['x-request-key', 'k']]), named, NOW)).toEqual({ kind: 'protect', key: 'k' })
    expect(checkRequest(keyed('k'), named, NOW)).toEqual(refused('key-missing'))
  })

  it('refuses a body that announces more bytes than are taken, and no other', () => {
    const announced = (bytes: string) => checkRequest(keyed('k', ['content-length', bytes]), policy, NOW)
    expect(announced('1001')).toEqual(refused('body-too-large'))
    expect(announced('1000')).toEqual({ kind: 'protect', key: 'k' })
    expect(announced('many')).toEqual({ kind: 'protect', key: 'k' })
    const limited = { ...policy, maxRequestBytes: 0 }
    expect(checkRequest(keyed('k'), limited, NOW)).toEqual({ kind: 'protect', key: 'k' })
  })

  it('reads when it was first sent with blanks around it', () => {
    const sent = ` ${new Date(NOW - policy.retentionMs).toUTCString()} `
    expect(checkRequest(keyed('k', ['repeatability-first-sent', sent]), policy, NOW)).toEqual(refused('window-passed'))
  })
})

import { describe, expect, it } from 'vitest'
import { type ScreenPolicy, screen } from '../../../../src/server/admission/screen.ts'

const NOW = Date.UTC(2025, 0, 2, 12)
const policy: ScreenPolicy = {
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
    expect(screen(ask(method), policy, NOW)).toEqual({ kind: 'pass' })
    expect(screen(ask(method, [['idempotency-key', 'k']]), policy, NOW)).toEqual({ kind: 'pass' })
  })

  it.each(['POST', 'PATCH'])('needs a key for %s, where keys are required', (method) => {
    expect(screen(ask(method), policy, NOW)).toEqual(refused('key-missing'))
    expect(screen(ask(method), { ...policy, required: false }, NOW)).toEqual({ kind: 'pass' })
  })

  it.each(['PUT', 'DELETE'])('needs none for %s, which says itself what the end is', (method) => {
    expect(screen(ask(method), policy, NOW)).toEqual({ kind: 'pass' })
    expect(screen(ask(method, [['idempotency-key', 'k']]), policy, NOW)).toEqual({ kind: 'protect', key: 'k' })
  })

  it('takes a key bare or in quotes, as the same key', () => {
    expect(screen(keyed('abc'), policy, NOW)).toEqual({ kind: 'protect', key: 'abc' })
    expect(screen(keyed('"abc"'), policy, NOW)).toEqual({ kind: 'protect', key: 'abc' })
  })

  it.each(['', 'a, b', 'a b', 'é', 'x'.repeat(256), 'a\tb', '"'])('refuses the key %j', (key) => {
    expect(screen(keyed(key), policy, NOW)).toEqual(refused('key-malformed'))
  })

  it('refuses two keys', () => {
    const headers = [
      ['idempotency-key', 'a'],
      ['idempotency-key', 'b'],
    ] as const
    expect(screen(ask('POST', headers), policy, NOW)).toEqual(refused('key-malformed'))
  })

  it('refuses what was first sent before keys are remembered, to the second', () => {
    const sent = (at: number): [string, string] => ['repeatability-first-sent', new Date(at).toUTCString()]
    const window = policy.retentionMs
    expect(screen(keyed('k', sent(NOW - window)), policy, NOW)).toEqual(refused('window-passed'))
    expect(screen(keyed('k', sent(NOW - window + 1000)), policy, NOW)).toEqual({ kind: 'protect', key: 'k' })
    expect(screen(keyed('k', sent(NOW + window)), policy, NOW)).toEqual({ kind: 'protect', key: 'k' })
    expect(screen(keyed('k', ['repeatability-first-sent', 'yesterday']), policy, NOW).kind).toBe('protect')
  })

  it('reads the key from the header that was named', () => {
    const named = { ...policy, keyHeader: 'x-request-key' }
    expect(screen(ask('POST', [['x-request-key', 'k']]), named, NOW)).toEqual({ kind: 'protect', key: 'k' })
    expect(screen(keyed('k'), named, NOW)).toEqual(refused('key-missing'))
  })

  it('refuses a body that announces more bytes than are taken, and no other', () => {
    const announced = (bytes: string) => screen(keyed('k', ['content-length', bytes]), policy, NOW)
    expect(announced('1001')).toEqual(refused('body-too-large'))
    expect(announced('1000')).toEqual({ kind: 'protect', key: 'k' })
    expect(announced('many')).toEqual({ kind: 'protect', key: 'k' })
    const limited = { ...policy, maxRequestBytes: 0 }
    expect(screen(keyed('k'), limited, NOW)).toEqual({ kind: 'protect', key: 'k' })
  })

  it('reads when it was first sent with blanks around it', () => {
    const sent = ` ${new Date(NOW - policy.retentionMs).toUTCString()} `
    expect(screen(keyed('k', ['repeatability-first-sent', sent]), policy, NOW)).toEqual(refused('window-passed'))
  })
})

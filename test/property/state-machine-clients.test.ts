import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LEASE_MS, neighbourhood, outcome } from '../support/shared-clients.ts'
import type { Weather } from '../support/shared-model-server.ts'

/** What may happen next, and to whom. */
const step = fc.record({
  do: fc.constantFrom(
    'post' as const,
    'resume' as const,
    'crash' as const,
    'cancel' as const,
    'retry' as const,
    'wait' as const,
    'lapse' as const,
  ),
  who: fc.nat(1),
  what: fc.nat(2),
})
const weather = fc.array(
  fc.constantFrom<Weather>('fine', 'request-lost', 'answer-lost', 'hang-before', 'hang-after', { status: 503 }),
  {
    minLength: 1,
    maxLength: 12,
  },
)

describe('two clients on one journal', () => {
  it('never lose an operation, never settle one twice, and never make an effect twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), weather, async (steps, sky) => {
        const place = neighbourhood()
        const settled: string[] = []
        const accepted = new Set<string>()
        const options = {
          attemptTimeout: '2s',
          deadline: '8s',
          budget: false,
          breaker: false,
          onGiveUp: 'keep',
          retry: { maxAttempts: 2 },
        } as const
        const make = () => {
          const client = place.client(options)
          client.onSettled('charge', ({ operation, status }) => {
            settled.push(`${operation.key} ${status}`)
          })
          return client
        }
        const clients = [make(), make()]
        place.server.weather = (_, n) => sky[n % sky.length] ?? 'fine'
        for (const { do: what, who, what: which } of steps) {
          const client = clients[who] ?? make()
          const id = `order:${which}`
          if (what === 'post') {
            const handle = client.post('/charges', { body: id, id, name: 'charge' })
            handle.catch(() => {})
            handle.accepted.then(
              () => accepted.add(id),
              () => {},
            )
          } else if (what === 'resume') void client.resume().catch(() => {})
          else if (what === 'cancel') void client.cancel(id).catch(() => {})
          else if (what === 'retry') client.retry(id).catch(() => {})
          else if (what === 'crash') {
            client.journal.crash()
            clients[who] = make()
          }
          await place.clock.advance(what === 'lapse' ? LEASE_MS : what === 'wait' ? 3000 : 1)
        }
        place.server.weather = () => 'fine'
        const last = make()
        for (let round = 0; round < 3; round++) {
          await place.clock.advance(LEASE_MS + 10_000)
          const resumed = last.resume()
          await place.clock.advance(20_000)
          await resumed
        }
        for (const id of accepted) {
          const found = await last.operation(id)
          expect(found, `${id} is not lost`).toBeDefined()
          expect(found?.status, `${id} has settled`).not.toBe('pending')
          if (found?.status === 'succeeded') expect(place.server.effects.get(found.key)).toBe(1)
          const successes = settled.filter((entry) => entry === `${found?.key} succeeded`)
          if (found?.status === 'succeeded') expect(successes.length).toBeGreaterThanOrEqual(1)
        }
        for (const [key, effects] of place.server.effects) expect(effects, key).toBe(1)
        const keys = new Map<string, Set<string>>()
        for (const call of place.server.calls) {
          const key = call.headers['idempotency-key'] ?? ''
          keys.set(call.text, (keys.get(call.text) ?? new Set()).add(key))
        }
        for (const [body, used] of keys) expect(used.size, body).toBe(1)
        expect(await outcome(last.operation('order:0'))).not.toHaveProperty('error')
      }),
      { numRuns: 40 },
    )
  }, 60_000)
})

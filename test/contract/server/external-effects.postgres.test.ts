import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createLedger } from '../../../src/server/create-ledger.ts'
import { json } from '../../../src/server/entry/reply.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { ledgerScene, type PgTransaction } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

function request(key: string): Request {
  return new Request('http://shop.test/charges', { method: 'POST', headers: { 'idempotency-key': key }, body: '{}' })
}

interface Inside {
  readonly notDone?: boolean
  readonly throws?: boolean
  readonly given?: boolean
}

/** Charges outside, then writes, and answers or throws inside its transaction. */
function shop(key: string, inside: Inside) {
  const pool = scene.pool()
  const ledger = createLedger({ store: postgresLedger({ pool, schema: scene.schema }), scope: 'public' })
  let charges = 0
  const handler = ledger.protect(
    async (_, { effect, notDone }) => {
      charges++
      const work = async (tx: PgTransaction) => {
        await tx.query('INSERT INTO charges (name) VALUES ($1)', [key])
        if (inside.notDone) notDone()
        if (inside.throws) throw new Error('disk full')
        return json({}, { status: 503 })
      }
      if (!inside.given) return effect(work)
      const client = await pool.connect()
      await client.query('BEGIN')
      return effect(work, { transaction: client }).finally(async () => {
        await client.query('COMMIT')
        client.release()
      })
    },
    { external: true },
  )
  return { handler, charges: () => charges, state: async () => (await ledger.find('public', key))?.state }
}

describe.each([false, true])('external work in Postgres, in a transaction of its caller: %s', (given) => {
  it.each([false, true])('that does not end well leaves the entry unknown; throws: %s', async (throws) => {
    const key = randomUUID()
    const { handler, charges, state } = shop(key, { throws, given })
    const first = handler(request(key))
    if (throws) await expect(first).rejects.toThrow('disk full')
    else expect((await first).status).toBe(503)
    expect(await state()).toBe('unknown')
    expect((await handler(request(key))).status).toBe(409)
    expect([charges(), await scene.effects(key)]).toEqual([1, 0])
  })

  it.each([false, true])('that says that nothing was done frees the key; throws: %s', async (throws) => {
    const key = randomUUID()
    const { handler, state } = shop(key, { throws, given, notDone: true })
    await handler(request(key)).catch(() => {})
    expect([await state(), await scene.effects(key)]).toEqual([undefined, 0])
  })
})

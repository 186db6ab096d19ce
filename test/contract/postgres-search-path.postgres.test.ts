import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Journal } from '../../src/client/journal/port.ts'
import { postgresJournal } from '../../src/postgres/index.ts'
import { createLedger, json } from '../../src/server/index.ts'
import { postgresLedger } from '../../src/server/postgres/index.ts'
import { journalContract } from '../../src/testing/contracts/journal-contract.ts'
import { ledgerContract } from '../../src/testing/contracts/ledger-contract.ts'
import { plant } from '../support/planted.ts'
import { ledgerScene, type PgTransaction } from '../support/postgres-ledger.ts'

/*
 * Unqualified names in a statement are looked for in pg_catalog first, but one elsewhere on the path wins if its types fit exactly
 * and those of pg_catalog do not.
 */

const scene = ledgerScene()
const planted = `${scene.schema}_planted`
const schemas: string[] = []
const trapped = (): pg.Pool => scene.pool({ options: `-c search_path=${planted},${scene.schema}` })

beforeAll(() => plant(scene, planted))
afterAll(async () => {
  for (const name of [planted, ...schemas]) await scene.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
})

/** Cases that send what others do too, only more of it. */
function addsStatements({ name }: { readonly name: string }): boolean {
  return !/^(bodies|answers|sharing|entries: (page|is not)|append: any)/.test(name)
}

function newSchema(): string {
  schemas.push(`${scene.schema}_${schemas.length}`)
  return schemas.at(-1) ?? ''
}

it('the traps work', async () => {
  await expect(trapped().query("SELECT hashtextextended('x'::text, 1)")).rejects.toThrow('planted')
  await expect(trapped().query('SELECT 1::numeric * 1::integer')).rejects.toThrow('planted: numeric * integer')
})

describe('no function and no operator of others is called by', () => {
  describe('a ledger', () => {
    const schema = newSchema()
    const open = () => postgresLedger({ pool: trapped(), schema })
    const contract = ledgerContract<PgTransaction>({
      open: async () => {
        const ledger = open()
        await ledger.stats(0)
        await scene.query(`TRUNCATE charges, ${schema}.holdfast_entries, ${schema}.holdfast_messages RESTART IDENTITY`)
        return ledger
      },
      another: open,
      effects: {
        write: async (tx, name) => void (await tx.query('INSERT INTO charges (name) VALUES ($1)', [name])),
        count: (name) => scene.effects(name),
      },
    })
    for (const { name, run } of contract.filter(addsStatements)) it(name, () => expect(run()).resolves.toBeUndefined())

    it('that uses all of its options', async () => {
      const options = { quota: 100, onAbandoned: 'hold', inFlight: 'wait', reconcile: () => json({}) } as const
      const ledger = createLedger({ store: open(), scope: 'public', ...options })
      const ask = (key: string) =>
        new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': key } })
      const handlers = [
        ledger.protect(() => json({}), { external: true }),
        ledger.protect(() => json({}, { status: 503 }), { external: true }),
        ledger.atomic(() => json({})),
      ]
      for (const [at, handler] of handlers.entries()) await handler(ask(`k${at}`))
      await ledger.stats()
      const reaper = ledger.startReaper({ every: '10ms', reconcile: true })
      await expect.poll(async () => (await ledger.find('public', 'k1'))?.state).toBe('done')
      await reaper.stop()
      expect(await ledger.erase('public')).toMatchObject({ left: 0 })
      await ledger.close()
    })
  })

  describe('a journal', () => {
    const places = new WeakMap<Journal, string>()
    const onSchema = (schema: string): Journal => {
      const journal = postgresJournal({ pool: trapped(), schema, sharedBudget: true })
      places.set(journal, schema)
      return journal
    }
    const again = (journal: Journal): Journal => onSchema(places.get(journal) ?? '')
    const contract = journalContract({ open: () => onSchema(newSchema()), another: again, reopen: again })
    for (const { name, run } of contract.filter(addsStatements)) it(name, () => expect(run()).resolves.toBeUndefined())

    it('that shares its budget', async () => {
      const journal = onSchema(newSchema())
      await journal.open()
      const bucket = { tokens: 1, burst: 5, rest: 1, reservePerSecond: 0 }
      const ask = () => journal.sharedBudget?.take('https://a.test', bucket)
      // A budget that can't be asked gives every token.
      expect([await ask(), await ask()]).toEqual([true, false])
      await journal.close()
    })
  })
})

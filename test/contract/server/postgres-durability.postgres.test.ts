import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { json } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { post, shopLedger } from '../../support/atomic-cases.ts'
import {
  answer,
  claimed,
  effect,
  ledgerScene,
  type PgLedger,
  type PgTransaction,
} from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

/** At each COMMIT of a row that must not be lost, a deferred trigger notes how that is written to disk. */
beforeAll(async () => {
  await scene.ledger().stats(0)
  await scene.query(`CREATE TABLE commits (name text NOT NULL, setting text NOT NULL);
    CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $note$
      BEGIN
        INSERT INTO commits VALUES (TG_TABLE_NAME, current_setting('synchronous_commit'));
        RETURN NULL;
      END $note$;
    CREATE CONSTRAINT TRIGGER note AFTER INSERT ON charges DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION note_commit();
    CREATE CONSTRAINT TRIGGER note AFTER INSERT ON holdfast_messages DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION note_commit();
    CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON holdfast_entries DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.state IN ('done', 'unknown')) EXECUTE FUNCTION note_commit()`)
})

const DECLINED = { kind: 'recorded', writes: 'rolled-back', answer: answer('declined', { status: 402 }) } as const

async function charge(tx: PgTransaction): Promise<void> {
  await tx.query('INSERT INTO charges (name) VALUES ($1)', ['x'])
}

interface Replica {
  readonly ledger: PgLedger
  readonly pool: ReturnType<typeof scene.pool>
}

const message = () => ({ scope: 'queue', id: randomUUID(), retentionMs: 1000_000, now: 0 })

/** What tells somebody that something is done, and the rows that must be on disk by then. */
const ACTS: Readonly<Record<string, readonly [rows: readonly string[], act: (replica: Replica) => Promise<unknown>]>> =
  {
    'an effect': [['charges', 'holdfast_entries'], async ({ ledger }) => effect(ledger, await claimed(ledger))],
    'an effect with a refusal': [
      ['holdfast_entries'],
      async ({ ledger }) => effect(ledger, await claimed(ledger), { work: () => DECLINED }),
    ],
    'an effect in a transaction of the caller': [
      ['charges', 'holdfast_entries'],
      async ({ ledger, pool }) => {
        const client = await pool.connect()
        await client.query('BEGIN')
        await effect(ledger, await claimed(ledger), { options: { transaction: client } })
        await client.query('COMMIT')
        client.release()
      },
    ],
    'an atomic handler': [
      ['charges', 'holdfast_entries'],
      async ({ ledger }) => {
        const handler = shopLedger<PgTransaction>({ store: ledger as never, scope: 'public' }).atomic(async (_, tx) => {
          await charge(tx)
          return json({}, { status: 201 })
        })
        await handler(post(randomUUID()))
      },
    ],
    'a message': [
      ['charges', 'holdfast_messages'],
      ({ ledger }) => ledger.consume(message(), { work: (tx) => charge(tx).then(() => null), options: {} }),
    ],
    'a message with a value': [
      ['charges', 'holdfast_messages'],
      ({ ledger }) => ledger.consume(message(), { work: (tx) => charge(tx).then(() => '1'), options: {} }),
    ],
    'an answer without an effect': [
      ['holdfast_entries'],
      async ({ ledger }) => ledger.complete(await claimed(ledger), answer('done'), 0),
    ],
    'an outcome that is unknown': [
      ['holdfast_entries'],
      async ({ ledger }) => ledger.abandon(await claimed(ledger, { external: true }), 0),
    ],
  }

describe.each([
  ['off', 'on'],
  ['remote_write', 'remote_write'],
])('with synchronous_commit %s for the role', (configured, expected) => {
  it.each(Object.entries(ACTS))(`%s is committed with ${expected}`, async (_, [rows, act]) => {
    await scene.query('TRUNCATE commits')
    const pool = scene.pool({ options: `-c search_path=${scene.schema} -c synchronous_commit=${configured}` })
    const ledger = postgresLedger({ pool, schema: scene.schema }) as PgLedger
    await act({ ledger, pool })
    const commits = await scene.query('SELECT DISTINCT name, setting FROM commits ORDER BY name')
    expect(commits).toEqual(rows.map((name) => ({ name, setting: expected })))
  })

  it(`a durable claim whose key went between the insert and the look is committed with ${expected}`, async () => {
    const schema = `${scene.schema}_${configured}`
    const pool = scene.pool({ options: `-c synchronous_commit=${configured}` })
    const ledger = postgresLedger({ pool, schema }) as PgLedger
    const { key } = await claimed(ledger)
    // The look of the ledger itself, and right before it what another transaction would do at that moment.
    await scene.query(`ALTER FUNCTION ${schema}.holdfast_look_v1 RENAME TO real_look;
      CREATE FUNCTION ${schema}.holdfast_look_v1(p_scope text, p_key text) RETURNS text LANGUAGE plpgsql AS $look$ BEGIN
        DELETE FROM ${schema}.holdfast_entries WHERE scope = p_scope AND key = p_key;
        RETURN ${schema}.real_look(p_scope, p_key);
      END $look$;
      CREATE TABLE ${schema}.commits (setting text);
      CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS $note$ BEGIN
        INSERT INTO ${schema}.commits VALUES (current_setting('synchronous_commit'));
        RETURN NULL;
      END $note$;
      CREATE CONSTRAINT TRIGGER note AFTER INSERT ON ${schema}.holdfast_entries DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${schema}.note()`)
    await claimed(ledger, { key, external: true, durable: true })
    expect(await scene.query(`SELECT setting FROM ${schema}.commits`)).toEqual([{ setting: expected }])
    await scene.query(`DROP SCHEMA ${schema} CASCADE`)
  })
})

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { JournalCommand } from '../../../src/client/journal/port.ts'
import { encodeBatch } from '../../../src/client/journal/postgres/journal-batch.ts'
import { journalTables } from '../../../src/client/journal/postgres/journal-tables.ts'
import { StorageError } from '../../../src/errors/classes.ts'
import { migratePostgresJournal, postgresJournal } from '../../../src/postgres/index.ts'
import { append, commit, list, remove } from '../../../src/testing/contracts/journal/sample-row.ts'
import { startProgram } from '../../support/child-program.ts'
import { ask, journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()
/** Of the tables that this library makes. */
const VERSION = journalTables('any').schema.steps.length

async function failure(work: Promise<unknown>): Promise<StorageError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StorageError)
  return error as StorageError
}

describe('a failure of the journal in Postgres', () => {
  it('says that the connection was refused', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    const journal = scene.journalWith({ connectionString: `postgres://x:y@127.0.0.1:${port}/x` })
    const error = await failure(journal.open())
    expect(error).toMatchObject({ effect: 'none' })
    expect(error.message).toContain(
      'The journal in Postgres cannot be reached: the connection was refused (ECONNREFUSED)',
    )
  })

  it('says that the server is read-only', async () => {
    await scene.journal().open()
    const journal = scene.journal({ options: '-c default_transaction_read_only=on' })
    const error = await failure(ask(journal, append('a')))
    expect(error).toMatchObject({ effect: 'none' })
    expect(error.message).toContain('the server is read-only, as a standby is. Connect to the primary (25006)')
  })

  it('is none of the application’s: it works while that holds all connections of its pool', async () => {
    const pool = scene.pool({ max: 1 })
    const taken = await pool.connect()
    const journal = scene.journalWith({ pool, schema: scene.newSchema() })
    expect(await ask(journal, append('not waiting'))).toEqual({ appended: true })
    taken.release()
  })

  it('says that no connection became free, and goes on when one is', async () => {
    const pool = scene.pool({ max: 1 })
    // A pool of another make, beside which the journal can't open connections.
    const other = { query: pool.query.bind(pool), connect: pool.connect.bind(pool), end: pool.end.bind(pool) }
    const journal = scene.journalWith({ pool: other as never, schema: scene.schema })
    await journal.open()
    const taken = await pool.connect()
    const error = await failure(journal.execute([append('waiting')]))
    expect(error).toMatchObject({ effect: 'none' })
    expect(error.message).toContain('no connection became free in time')
    taken.release()
    expect(await ask(journal, append('waiting'))).toEqual({ appended: true })
  })

  it('says that tables are of a newer version, and leaves them alone', async () => {
    const schema = scene.newSchema()
    await scene.journalWith({ pool: scene.pool(), schema }).open()
    const newer = VERSION + 1
    await scene.query(`INSERT INTO ${schema}.holdfast_migrations VALUES ('journal', ${newer}, ${newer})`)
    const error = await failure(scene.journalWith({ pool: scene.pool(), schema }).open())
    expect(error.message).toContain(`The journal tables are of version ${newer}`)
    expect(error.message).toContain('update this installation')
    await scene.query(`UPDATE ${schema}.holdfast_migrations SET oldest = 1 WHERE version = ${newer}`)
    expect(await ask(scene.journalWith({ pool: scene.pool(), schema }), append('a'))).toEqual({ appended: true })
  })

  it('says that a row is held by another transaction, and holds up no other', async () => {
    const journal = scene.journal()
    await ask(journal, append('first'))
    const open = await scene.pool().connect()
    await open.query('BEGIN')
    await journal.persistIn?.(open, append('held', { id: 'order:held' }).row)
    const waiting = failure(journal.execute([append('x', { id: 'order:held' })]))
    // A key of its own for each try.
    expect(await journal.execute([append(randomUUID())])).toEqual([{ appended: true }])
    const error = await waiting
    expect(error).toMatchObject({ effect: 'none' })
    expect(error.message).toContain('is locked by a transaction that is still open (55P03)')
    await open.query('ROLLBACK')
    open.release()
    expect(await ask(journal, append('x', { id: 'order:held' }))).toEqual({ appended: true })
  })

  it('says that the sequence is behind the rows, as after a cutover by logical replication', async () => {
    const schema = scene.newSchema()
    const journal = scene.journalWith({ pool: scene.pool(), schema })
    await journal.open()
    await journal.execute(Array.from({ length: 1000 }, (_, at) => append(`before-${at}`)))
    const sequence = `pg_get_serial_sequence('${schema}.holdfast_operations', 'place')`
    await scene.query(`SELECT setval(${sequence}, 1, false)`)
    const queue = journal.queue?.({})
    const queued = new Promise((resolve, reject) => queue?.push({ command: append('d'), resolve, reject } as never))
    for (const error of [await failure(journal.execute([append('d')])), await failure(queued)]) {
      expect(error.message).toMatch(/sequence of the table is behind its rows.*setval/)
      expect(error).toMatchObject({ effect: 'none' })
    }
    await scene.query(`SELECT setval(${sequence}, (SELECT max(place) FROM ${schema}.holdfast_operations))`)
    expect(await ask(journal, append('d'))).toEqual({ appended: true })
  })

  it('before it is open, and after it is closed, says so', async () => {
    const journal = scene.journal()
    expect((await failure(journal.execute([list()]))).message).toBe('The journal in Postgres is not open')
    await journal.open()
    await journal.close()
    expect((await failure(journal.execute([list()]))).message).toBe('The journal in Postgres is not open')
  })
})

describe('the pool', () => {
  it('of the caller is never ended', async () => {
    const pool = scene.pool()
    const journal = scene.journalWith({ pool, schema: scene.schema })
    await journal.open()
    await journal.close()
    expect(pool.ended).toBe(false)
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  it('that was made from a connection string ends with the journal, and so does its listener', async () => {
    const name = `${scene.schema}_own`
    const connectionString = `${scene.url}?application_name=${name}`
    const journal = scene.journalWith({ connectionString, schema: scene.schema })
    await ask(journal, list())
    const connections = async (): Promise<number> =>
      (await scene.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [name])).length
    await expect.poll(connections).toBe(2)
    await journal.close()
    await expect.poll(connections).toBe(0)
  })
})

it('lets a program end that closes nothing', async () => {
  const child = await startProgram('child-forgetful', { url: scene.url, schema: scene.schema })
  await child.until((line) => line === 'done')
  const saidAt = performance.now()
  expect(await child.ended).toMatchObject({ code: 0 })
  expect(performance.now() - saidAt).toBeLessThan(5000)
})

describe('the tables', () => {
  it('are made once where several replicas start at the same time', async () => {
    const schema = scene.newSchema()
    const journals = Array.from({ length: 6 }, () => scene.journalWith({ pool: scene.pool({ max: 2 }), schema }))
    await Promise.all(journals.map((journal) => journal.open()))
    const once = Array.from({ length: VERSION }, (_, step) => ({ component: 'journal', version: step + 1, oldest: 1 }))
    expect(await scene.query(`SELECT * FROM ${schema}.holdfast_migrations`)).toEqual(once)
  })

  it('are beside those of a ledger in one schema', async () => {
    const { postgresLedger } = await import('../../../src/server/postgres/index.ts')
    const schema = scene.newSchema()
    await postgresLedger({ pool: scene.pool(), schema }).stats(0)
    expect(await ask(scene.journalWith({ pool: scene.pool(), schema }), append('a'))).toEqual({ appended: true })
  })

  it('are not made by a journal that was told so, but by the call that it names', async () => {
    const schema = scene.newSchema()
    const journal = scene.journalWith({ pool: scene.pool(), schema, migrate: false })
    expect((await failure(journal.open())).message).toContain('migratePostgresJournal({ pool, schema })')
    expect(await scene.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([])
    await migratePostgresJournal({ connectionString: scene.url, schema })
    expect(await ask(journal, append('a'))).toEqual({ appended: true })
  })

  it('can be used by a role that may create nothing', async () => {
    const schema = scene.newSchema()
    await migratePostgresJournal({ pool: scene.pool(), schema })
    const role = `${schema}_role`
    await scene.query(`CREATE ROLE ${role}`)
    await scene.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
    await scene.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
    const pool = scene.pool({ options: `-c role=${role}` })
    expect(await ask(scene.journalWith({ pool, schema }), append('a'))).toEqual({ appended: true })
    await scene.query(`DROP OWNED BY ${role}`)
    await scene.query(`DROP ROLE ${role}`)
  })
})

describe('options', () => {
  it.each([
    [{}, 'needs either a `pool` or a `connectionString`'],
    [{ pool: {} }, 'is a Pool of the package pg'],
    [{ connectionString: 5 }, 'is a text'],
    [{ connectionString: 'postgres://x', shcema: 'x' }, 'no option `shcema`'],
    [{ connectionString: 'postgres://x', migrate: 1 }, '`migrate`'],
    [{ connectionString: 'postgres://x', schema: 'pg_x' }, 'must not begin with pg_'],
  ])('%o are refused', (options, sentence) => {
    expect(() => postgresJournal(options as never)).toThrow(sentence)
  })
})

describe('the durability level', () => {
  it.each([
    ['on', 'power'],
    ['local', 'power'],
    ['off', 'process'],
  ])('with synchronous_commit %s is %s', async (setting, level) => {
    const journal = scene.journal({ options: `-c synchronous_commit=${setting}` })
    await journal.open()
    expect(journal.level).toBe(level)
  })
})

describe('the level of an origin, which every replica writes beside its settlements', () => {
  const levelOf = (key: string) => ({ namespace: '', key, status: 'succeeded', owner: 'levels', body: null }) as const
  const levels = (...keys: string[]): JournalCommand[] =>
    keys.flatMap((key) => [remove(key, { namespace: '', owner: 'levels', epoch: 0 }), append(key, levelOf(key))])

  it('holds up no other replica while one is being written', async () => {
    const [pool, journal] = [scene.pool(), scene.journal()]
    await ask(journal, append('settling', { owner: 'me', epoch: 1 }))
    await journal.execute(levels('https://a.example', 'https://b.example'))
    const slow = await pool.connect()
    await slow.query('BEGIN')
    const { commands, bodies } = encodeBatch(levels('https://b.example', 'https://a.example'))
    const text = `SELECT FROM ${scene.schema}.holdfast_journal_v1(NULL, false, NULL, $1, $2)`
    await slow.query(text, [commands, bodies])
    const [settled] = await journal.execute([commit('settling'), ...levels('https://a.example', 'https://b.example')])
    expect(settled).toBe(true)
    await slow.query('COMMIT')
    slow.release()
    expect(await ask(journal, { ...list(), namespace: '' })).toHaveLength(2)
  })
})

import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/index.ts'
import { createLedger } from '../../src/server/index.ts'
import { postgresLedger } from '../../src/server/postgres/index.ts'
import { journalScene } from '../support/postgres-journal.ts'
import { ask } from '../support/protected-shop.ts'
import { refused } from './support/journal-file.ts'
import { cli, parsed } from './support/run-cli.ts'

const scene = journalScene()

describe('on Postgres, the command line', () => {
  it('lists, shows, cancels, drops, counts and examines the operations of a fleet', async () => {
    const client = createClient({
      baseUrl: 'https://api.test',
      journal: scene.journal(),
      retry: false,
      honoursKeys: true,
      fetch: refused,
    })
    for (const id of ['order:1', 'order:2'])
      await client.post('/charges', { json: 1, id, onGiveUp: 'keep' }).catch(() => {})
    const on = (...args: string[]) => cli([...args, '--db', scene.url, '--schema', scene.schema])
    expect(parsed<{ id: string }[]>(await on('list', '--json')).map(({ id }) => id)).toEqual(['order:1', 'order:2'])
    expect((await on('show', 'order:1')).out).toMatch(/^status +pending$/m)
    expect(await on('cancel', 'order:1')).toMatchObject({ code: 0 })
    expect(await on('drop', 'order:1')).toMatchObject({ code: 0 })
    expect(parsed(await on('stats', '--json'))).toMatchObject({
      journal: { operations: [{ namespace: 'default', status: 'pending', count: 1 }] },
    })
    expect((await on('export')).out.trim().split('\n')).toHaveLength(1)
    expect((await on('prune')).out).toMatch(/^journal: \d records deleted$/m)
    const { out } = await on('doctor')
    expect(out).toMatch(/^ok +integrity/m)
    expect(out).toMatch(/synchronous_commit = on/)
    await client.close()
  })

  it('migrates, lists and resolves a ledger, and makes no tables unasked', async () => {
    const schema = scene.newSchema()
    const on = (...args: string[]) => cli([...args, '--db', scene.url, '--schema', schema])
    for (const command of ['entries', 'list', 'stats', 'prune']) {
      const { code, err } = await on(command)
      expect({ command, code }).toEqual({ command, code: 1 })
      expect(err).toMatch(/has no (ledger |journal )?tables/)
    }
    const made = await scene.query(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`)
    expect(made).toEqual([])
    expect((await on('migrate')).out).toBe('ledger: made, version 3\n')
    const ledger = createLedger({ store: postgresLedger({ pool: scene.pool(), schema }), scope: 'acme' })
    const external = ledger.protect(
      async () => {
        throw new Error('the provider did not answer')
      },
      { external: true },
    )
    await external(ask('key-1')).catch(() => {})
    expect((await on('entries', '--state', 'unknown')).out).toMatch(/^acme +key-1 +unknown/m)
    expect(await on('doctor')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^problem +unknown entries +1 entry/m),
    })
    expect(await on('resolve', 'acme', 'key-1', '--done', '201')).toMatchObject({ code: 0 })
    expect(await ledger.find('acme', 'key-1')).toMatchObject({ state: 'done', answer: { status: 201 } })
    await ledger.close()
  })

  it('says what is wrong with a connection, without its password', async () => {
    const { code, out, err } = await cli(['list', '--db', 'postgres://joe:geheim@127.0.0.1:9/shop?password=geheim'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^holdfast: The database postgres:\/\/127\.0\.0\.1:9\/shop.* connection was refused/)
    expect(err).not.toMatch(/geheim/)
  })
})

import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigurationError, StorageError } from '../../../src/errors/classes.ts'
import { createLedger, json } from '../../../src/server/index.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import { type CuttingProxy, cuttingProxy } from '../../support/cutting-proxy.ts'
import { claimed, draft, effect, found, keep, ledgerScene } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

describe('a COMMIT whose answer is lost', () => {
  let proxy: CuttingProxy
  beforeAll(async () => {
    proxy = await cuttingProxy(scene.url)
  })
  afterAll(() => proxy.close())

  it('counts where it was done: the entry tells', async () => {
    const ledger = scene.ledger({ connectionString: proxy.url, max: 1 })
    const claim = await claimed(ledger)
    const work = () => {
      proxy.cutCommit('after')
      return keep()
    }
    expect(await effect(ledger, claim, { work })).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(1)
    expect((await found(ledger, claim)).entry.state).toBe('done')
  })

  it('is in doubt if it was not done, and the claim can be ended', async () => {
    const ledger = scene.ledger({ connectionString: proxy.url, max: 1 })
    const claim = await claimed(ledger)
    const work = () => {
      proxy.cutCommit('before')
      return keep()
    }
    expect(await effect(ledger, claim, { work })).toBe('in-doubt')
    expect(await scene.effects(claim.key)).toBe(0)
    expect(await ledger.release(claim)).toBe(true)
    expect((await ledger.insert(draft({ key: claim.key }))).kind).toBe('inserted')
  })

  it.each([
    ['before', 503, 2],
    ['after', 201, 1],
  ] as const)('cut %s it: the request is answered with %i, and its effect is done once', async (when, status, runs) => {
    const store = scene.ledger({ connectionString: proxy.url, max: 1 })
    const ledger = createLedger({ store, scope: 'public' })
    let begun = 0
    const handler = ledger.protect((_, context) =>
      context.effect(async (tx) => {
        await tx.query('INSERT INTO charges (name) VALUES ($1)', [`cut ${when}`])
        if (++begun === 1) proxy.cutCommit(when)
        return json({ begun }, { status: 201 })
      }),
    )
    const ask = () =>
      handler(new Request('http://127.0.0.1/', { method: 'POST', headers: { 'idempotency-key': `cut-${when}` } }))
    expect((await ask()).status).toBe(status)
    expect((await ask()).status).toBe(201)
    expect([begun, await scene.effects(`cut ${when}`)]).toEqual([runs, 1])
  })

  it('of a message is told as a failure, and the next delivery finds out', async () => {
    const ledger = scene.ledger({ connectionString: proxy.url, max: 1 })
    const message = { scope: 's', id: 'lost', retentionMs: 1000_000, now: 0 }
    const work = () => {
      proxy.cutCommit('after')
      return 'value'
    }
    await expect(ledger.consume(message, { work, options: {} })).rejects.toThrow(StorageError)
    const again = await ledger.consume(message, { work: () => 'again', options: {} })
    expect(again).toEqual({ duplicate: true, value: 'value' })
  })
})

describe('a message', () => {
  it('whose work swallowed a failure is not done, and said so', async () => {
    const ledger = scene.ledger()
    const message = { scope: 's', id: 'swallowed', retentionMs: 1000_000, now: 0 }
    const consume = ledger.consume(message, {
      options: {},
      work: async (tx) => {
        await tx.query('SELECT 1 / 0').catch(() => {})
        return null
      },
    })
    await expect(consume).rejects.toThrow(ConfigurationError)
    await expect(consume).rejects.toThrow('A statement of the work failed and the work went on')
    expect(await ledger.consume(message, { work: () => null, options: {} })).toEqual({ duplicate: false, value: null })
  })
})

describe('a store that cannot be used says why', () => {
  it('where nobody listens', async () => {
    const port = await freePort()
    const ledger = postgresLedger({ connectionString: `postgres://nobody:secret@127.0.0.1:${port}/none` })
    const failing = ledger.insert(draft())
    await expect(failing).rejects.toThrow('The ledger in Postgres cannot be reached: the connection was refused')
    await expect(failing).rejects.not.toThrow('secret')
    await ledger.close()
  })

  it('where the password is wrong', async () => {
    const url = new URL(scene.url)
    url.password = 'wrong'
    const ledger = postgresLedger({ connectionString: url.href })
    await expect(ledger.insert(draft())).rejects.toThrow('refused the user or the password (28P01)')
    await ledger.close()
  })

  it('where the server is read-only, as a standby is', async () => {
    await scene.ledger().stats(0)
    const options = `-c search_path=${scene.schema} -c default_transaction_read_only=on`
    const ledger = scene.ledger({ options })
    await expect(ledger.insert(draft())).rejects.toThrow('Connect to the primary (25006)')
    expect(await ledger.find('s', 'k')).toBeUndefined()
  })

  it('where the pool has been ended', async () => {
    const pool = scene.pool()
    const ledger = postgresLedger({ pool, schema: scene.schema })
    await ledger.stats(0)
    await pool.end()
    await expect(ledger.insert(draft())).rejects.toThrow('the pool has been ended')
    await expect(effect(ledger, { scope: 's', key: 'k', token: 't', attempt: 1 })).rejects.toThrow(StorageError)
  })

  it('where no connection becomes free in time', async () => {
    const pool = scene.pool({ max: 1, connectionTimeoutMillis: 100 })
    const ledger = postgresLedger({ pool, schema: scene.schema })
    const client = await pool.connect()
    await expect(ledger.insert(draft())).rejects.toThrow('no connection became free in time')
    client.release()
    expect((await ledger.insert(draft())).kind).toBe('inserted')
  })

  it('where it has been closed', async () => {
    const ledger = postgresLedger({ connectionString: scene.url, schema: scene.schema })
    expect((await ledger.insert(draft())).kind).toBe('inserted')
    await ledger.close()
    await ledger.close()
    await expect(ledger.insert(draft())).rejects.toThrow('has been closed')
  })

  it('where a scope has a NUL character, or is too long for an index', async () => {
    const ledger = scene.ledger()
    await expect(ledger.insert(draft({ scope: 'a\0b' }))).rejects.toThrow('NUL')
    const noise = Array.from({ length: 2000 }, (_, index) => Math.imul(index, 2654435761) >>> 0).join('')
    await expect(ledger.insert(draft({ scope: noise }))).rejects.toThrow('too long')
  })
})

it('leaves a pool that it was given alone', async () => {
  const pool = scene.pool()
  const ledger = postgresLedger({ pool, schema: scene.schema })
  await ledger.stats(0)
  await ledger.close()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

it('refuses wrong options at once', () => {
  const wrong: unknown[] = [
    {},
    { pool: {}, connectionString: 'x' },
    { pool: {} },
    { connectionString: 5 },
    { connectionString: 'x', schema: '' },
    { connectionString: 'x', schema: 'pg_mine' },
    { connectionString: 'x', schema: 'x'.repeat(64) },
    { connectionString: 'x', shcema: 'x' },
  ]
  for (const options of wrong)
    expect(() => postgresLedger(options as { connectionString: string })).toThrow(ConfigurationError)
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

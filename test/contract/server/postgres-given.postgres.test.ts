import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { ConfigurationError, StorageError } from '../../../src/errors/classes.ts'
import {
  answer,
  claimed,
  draft,
  effect,
  found,
  keep,
  ledgerScene,
  type PgTransaction,
} from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

async function begun(level: string): Promise<pg.PoolClient> {
  const client = await scene.pool().connect()
  await client.query(`BEGIN ISOLATION LEVEL ${level}`)
  return client
}

async function ended(client: pg.PoolClient, how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  await client.query(how)
  client.release()
}

const LEVELS = ['read committed', 'repeatable read', 'serializable'] as const

/** As libraries have it: one statement per call, and the driver's error below one of their own. */
function behindLibrary(client: pg.PoolClient): PgTransaction {
  const query = async (text: string, values?: unknown[]) => {
    try {
      // The extended protocol refuses more than one statement.
      const { rows } = await client.query({ text, values, queryMode: 'extended' } as pg.QueryConfig)
      return { rows }
    } catch (cause) {
      throw Object.assign(new Error('Failed query'), { cause })
    }
  }
  return { query } as PgTransaction
}

describe.each(
  LEVELS.flatMap((level) => [
    { level, of: 'pg', given: (client: pg.PoolClient) => client },
    { level, of: 'another library', given: behindLibrary },
  ]),
)('a transaction of the caller by $of, $level', ({ level, given }) => {
  it('commits the effect and the answer when it commits', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const client = await begun(level)
    expect(await effect(ledger, claim, { options: { transaction: given(client) } })).toBe('uncommitted')
    expect(await scene.effects(claim.key)).toBe(0)
    await ended(client, 'COMMIT')
    expect(await scene.effects(claim.key)).toBe(1)
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: answer('charged') })
  })

  it('commits the same answer where a backslash in a literal is an escape', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const client = await begun(level)
    await client.query('SET LOCAL standard_conforming_strings = off')
    const told = answer(`it's \\ \\x00`, { headers: [['x-path', 'C:\\temp']] })
    const work = async () => ({ kind: 'recorded', writes: 'committed', answer: told }) as const
    expect(await effect(ledger, claim, { work, options: { transaction: given(client) } })).toBe('uncommitted')
    await ended(client, 'COMMIT')
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: told })
  })

  it('keeps neither when it rolls back, and the claim is still good', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const client = await begun(level)
    await effect(ledger, claim, { options: { transaction: given(client) } })
    await ended(client, 'ROLLBACK')
    expect(await scene.effects(claim.key)).toBe(0)
    expect(await effect(ledger, claim)).toBe('recorded')
  })

  it('stays usable after a refusal, whose answer it keeps', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const client = await begun(level)
    const refused = { kind: 'recorded', writes: 'rolled-back', answer: answer('declined', { status: 402 }) } as const
    const work = async () => {
      await client.query('SELECT 1 / 0').catch(() => {})
      return refused
    }
    expect(await effect(ledger, claim, { work, options: { transaction: given(client) } })).toBe('uncommitted')
    await client.query('INSERT INTO charges (name) VALUES ($1)', [`beside ${claim.key}`])
    await ended(client, 'COMMIT')
    expect([await scene.effects(claim.key), await scene.effects(`beside ${claim.key}`)]).toEqual([0, 1])
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: { status: 402 } })
  })

  it.each(['COMMIT', 'ROLLBACK'] as const)(
    'keeps the claim if the work throws, and the caller sends %s',
    async (how) => {
      const ledger = scene.ledger()
      const claim = await claimed(ledger)
      const client = await begun(level)
      const work = () => Promise.reject(new Error('out of stock'))
      await expect(effect(ledger, claim, { work, options: { transaction: given(client) } })).rejects.toThrow(
        'out of stock',
      )
      await ended(client, how)
      expect(await scene.effects(claim.key)).toBe(0)
      const { entry, owner } = await found(ledger, claim)
      expect(owner).toBe('unsure')
      expect(entry).toMatchObject({ state: 'running', token: claim.token, inEffect: false, answer: null })
      expect(await ledger.complete(claim, answer('declined', { status: 402 }), 0)).toBe(true)
    },
  )

  it('is not forgotten where the work commits it before its answer is written', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const client = await begun(level)
    const work = async () => {
      await client.query('COMMIT')
      return keep()
    }
    const early = effect(ledger, claim, { work, options: { transaction: given(client) } })
    await expect(early).rejects.toThrow('ended its transaction')
    client.release()
    expect(await scene.effects(claim.key)).toBe(1)
    expect((await found(ledger, claim)).entry.state).toBe('unknown')
  })

  it('keeps no answer where the work rolls it back by itself', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger)
    const client = await begun(level)
    const work = async () => {
      await client.query('ROLLBACK')
      return keep()
    }
    const early = effect(ledger, claim, { work, options: { transaction: given(client) } })
    await expect(early).rejects.toThrow('ended its transaction')
    client.release()
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'unknown', answer: null })
  })

  it('is fenced where the claim was lost before it began', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { leaseMs: 0 })
    await ledger.takeOver((await found(ledger, claim)).entry, draft({ key: claim.key }))
    const client = await begun(level)
    expect(await effect(ledger, claim, { options: { transaction: given(client) } })).toBe('lost')
    await client.query('INSERT INTO charges (name) VALUES ($1)', [`beside ${claim.key}`])
    await ended(client, 'COMMIT')
    expect([await scene.effects(claim.key), await scene.effects(`beside ${claim.key}`)]).toEqual([0, 1])
  })

  it('is not on a pool of one that everything else needs too', async () => {
    const pool = scene.pool({ max: 1, connectionTimeoutMillis: 5000 })
    const { postgresLedger } = await import('../../../src/server/ledger/postgres/postgres-ledger.ts')
    const ledger = postgresLedger({ pool, schema: scene.schema })
    const other = scene.ledger()
    for (const how of ['COMMIT', 'ROLLBACK'] as const) {
      const claim = await claimed(ledger)
      const client = await pool.connect()
      await client.query(`BEGIN ISOLATION LEVEL ${level}`)
      const options = { transaction: given(client) }
      const work = () => Promise.reject(new Error('no'))
      await expect(effect(ledger, claim, { work, options })).rejects.toThrow('no')
      expect(await effect(ledger, claim, { work: () => ({ kind: 'released' }), options })).toBe('released')
      // Over a connection that is not one of this pool.
      const { scope, key } = await claimed(other)
      expect(await ledger.find(scope, key)).toMatchObject({ state: 'running' })
      await ended(client, how)
      await expect.poll(() => ledger.find(claim.scope, claim.key)).toBeUndefined()
    }
  })

  it('marks a message with it', async () => {
    const ledger = scene.ledger()
    const message = { scope: 's', id: draft().key, retentionMs: 1000_000, now: 0 }
    const consume = (client: pg.PoolClient) =>
      ledger.consume(message, { work: () => 'value', options: { transaction: given(client) } })
    const first = await begun(level)
    expect(await consume(first)).toEqual({ duplicate: false, value: 'value' })
    await ended(first, 'ROLLBACK')
    const second = await begun(level)
    expect(await consume(second)).toEqual({ duplicate: false, value: 'value' })
    await ended(second, 'COMMIT')
    const third = await begun(level)
    expect(await consume(third)).toEqual({ duplicate: true, value: 'value' })
    await ended(third, 'COMMIT')
  })
})

describe.each(LEVELS.slice(1))('a transaction that is older than the claim, %s', (level) => {
  it('is refused in clear words, and is not taken for a lost claim', async () => {
    const ledger = scene.ledger()
    const client = await begun(level)
    await client.query('SELECT count(*) FROM charges')
    const claim = await claimed(ledger)
    const late = effect(ledger, claim, { options: { transaction: client } })
    await expect(late).rejects.toThrow(StorageError)
    await expect(late).rejects.toThrow('begin it inside the handler')
    await ended(client, 'ROLLBACK')
    expect(await scene.effects(claim.key)).toBe(0)
  })

  it('is refused in clear words where the claim was lost meanwhile', async () => {
    const ledger = scene.ledger()
    const claim = await claimed(ledger, { leaseMs: 0 })
    const client = await begun(level)
    await client.query('SELECT count(*) FROM charges')
    await ledger.takeOver((await found(ledger, claim)).entry, draft({ key: claim.key }))
    await expect(effect(ledger, claim, { options: { transaction: client } })).rejects.toThrow(/serialize.*40001/)
    await ended(client, 'ROLLBACK')
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'running', attempt: 2 })
  })
})

describe('what is no transaction', () => {
  it('is refused: a client without BEGIN', async () => {
    const ledger = scene.ledger()
    const client = await scene.pool().connect()
    const given = effect(ledger, await claimed(ledger), { options: { transaction: client } })
    await expect(given).rejects.toThrow('send BEGIN first')
    await expect(given).rejects.toThrow(ConfigurationError)
    client.release()
  })

  it('is refused: anything else', async () => {
    const ledger = scene.ledger()
    const transaction = {} as pg.PoolClient
    await expect(effect(ledger, null, { options: { transaction } })).rejects.toThrow(ConfigurationError)
  })

  it('has no isolation of its own', async () => {
    const ledger = scene.ledger()
    const client = await begun('read committed')
    const options = { transaction: client, isolation: 'serializable' } as const
    await expect(effect(ledger, null, { options })).rejects.toThrow(ConfigurationError)
    await ended(client, 'ROLLBACK')
  })
})

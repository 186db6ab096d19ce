import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { WorkOutcome } from '../../../src/server/entry/outcome.ts'
import { postgresLedger } from '../../../src/server/ledger/postgres/postgres-ledger.ts'
import {
  answer,
  claimed,
  draft,
  effect,
  found,
  keep,
  ledgerScene,
  type PgLedger,
} from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

const DECLINED: WorkOutcome = { kind: 'recorded', writes: 'rolled-back', answer: answer('declined', { status: 402 }) }

/** A ledger whose statements are noted. Once told so, its process dies at the ROLLBACK: that is its last statement. */
function watched() {
  const texts: string[] = []
  const pool = scene.pool({ max: 1 })
  let dies = false
  let between: (() => Promise<void>) | undefined
  pool.on('connect', (client: pg.PoolClient) => {
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>
    const noted = async (...given: unknown[]): Promise<unknown> => {
      const text = String(given[0])
      texts.push(text)
      const [first, rest] = text.split(/(?<=\bROLLBACK); /)
      if (between && rest) {
        await query(first)
        await between()
        return query(rest)
      }
      if (!dies) return query(...given)
      const callback = given.at(-1)
      if (texts.includes('dead')) {
        // The pool asks by callback.
        if (typeof callback === 'function') return callback(new Error('The process is dead'))
        throw new Error('The process is dead')
      }
      if (!text.includes('ROLLBACK')) return query(...given)
      await query('ROLLBACK')
      texts.push('dead')
      throw new Error('The process is dead')
    }
    Object.assign(client, { query: noted })
  })
  const ledger = postgresLedger({ pool, schema: scene.schema }) as PgLedger
  const dieAtRollback = (): void => {
    dies = true
  }
  /** Does this after the ROLLBACK, before the statements that travel with it. */
  const setBetween = (act: () => Promise<void>): void => {
    between = act
  }
  return { ledger, texts, dieAtRollback, between: setBetween }
}

describe('an effect in Postgres whose work is rolled back', () => {
  it('records a 4xx in a second transaction and one round trip, without a savepoint', async () => {
    const { ledger, texts } = watched()
    const claim = await claimed(ledger)
    const work = () => {
      texts.length = 0
      return DECLINED
    }
    expect(await effect(ledger, claim, { work })).toBe('recorded')
    expect(texts).toEqual([
      expect.stringMatching(/ROLLBACK; BEGIN[^;]*;[^;]*;\s*UPDATE[\s\S]*state = 'done'[\s\S]*; COMMIT$/),
    ])
    expect(texts.join()).not.toMatch(/savepoint/i)
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(ledger, claim)).entry).toMatchObject({ state: 'done', answer: { status: 402 } })
  })

  it('needs one round trip before the work and one after it where it commits', async () => {
    const { ledger, texts } = watched()
    const claim = await claimed(ledger)
    texts.length = 0
    expect(await effect(ledger, claim)).toBe('recorded')
    expect(texts).toEqual([
      expect.stringMatching(/COMMIT AND CHAIN; SELECT \S+_enter_v1\([^;]*$/),
      expect.stringMatching(/^INSERT INTO charges/),
      expect.stringMatching(/COMMIT$/),
    ])
  })

  it.each([
    ['a transient answer', () => ({ kind: 'released' }) as const],
    ['a throw', () => Promise.reject(new Error('broken'))],
  ])('frees the key after %s', async (_, work) => {
    const { ledger } = watched()
    const claim = await claimed(ledger)
    expect(await effect(ledger, claim, { work }).catch((error: Error) => error.message)).toMatch(/^(released|broken)$/)
    expect([await scene.effects(claim.key), await ledger.find(claim.scope, claim.key)]).toEqual([0, undefined])
  })

  it('records nothing, and commits nothing, under a claim that was lost', async () => {
    const [ledger, other] = [scene.ledger(), scene.ledger()]
    const claim = await claimed(ledger, { leaseMs: 0 })
    await other.takeOver((await found(other, claim)).entry, draft({ key: claim.key }))
    for (const work of [() => keep(), () => DECLINED]) expect(await effect(ledger, claim, { work })).toBe('lost')
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(other, claim)).entry).toMatchObject({ state: 'running', attempt: 2 })
  })

  it('records nothing where another request took over before the second transaction', async () => {
    const { ledger, between } = watched()
    const other = scene.ledger()
    const claim = await claimed(ledger)
    between(async () => void (await other.takeOver((await found(other, claim)).entry, draft({ key: claim.key }))))
    expect(await effect(ledger, claim, { work: () => DECLINED })).toBe('lost')
    expect(await scene.effects(claim.key)).toBe(0)
    expect((await found(other, claim)).entry).toMatchObject({ state: 'running', attempt: 2, answer: null })
  })

  it.each([
    ['a 4xx', () => DECLINED],
    ['a throw', () => Promise.reject(new Error('broken'))],
  ])('after %s: a crash before the second transaction leaves the key to the next process', async (_, work) => {
    const { ledger, dieAtRollback } = watched()
    const other = scene.ledger()
    const claim = await claimed(ledger)
    dieAtRollback()
    await expect(effect(ledger, claim, { work })).rejects.toThrow()
    const left = await found(other, claim)
    expect(left).toMatchObject({ owner: 'gone', entry: { state: 'running', inEffect: true } })
    expect(await scene.effects(claim.key)).toBe(0)
    const next = await other.takeOver(left.entry, draft({ key: claim.key }))
    expect(next?.attempt).toBe(2)
    expect(next && (await effect(other, next, { work: () => keep() }))).toBe('recorded')
    expect(await scene.effects(claim.key)).toBe(1)
    expect((await found(other, claim)).entry.state).toBe('done')
  })
})

import { describe, expect, it } from 'vitest'
import type { Consumed, MessageDraft } from '../../../src/server/ledger/port.ts'
import { deferred, draft, ledgerScene, type PgLedger } from '../../support/postgres-ledger.ts'

const scene = ledgerScene()

describe.each(['read committed', 'repeatable read', 'serializable'] as const)('a message, %s', (isolation) => {
  const message = (): MessageDraft => ({ scope: 's', id: draft().key, retentionMs: 1000_000, now: 0 })

  async function twoAtOnce(ledger: PgLedger, first: string | Error): Promise<PromiseSettledResult<Consumed>[]> {
    const started = deferred<void>()
    const goOn = deferred<void>()
    const one = message()
    const slow = async () => {
      started.resolve()
      await goOn.promise
      if (first instanceof Error) throw first
      return first
    }
    const results = [ledger.consume(one, { work: slow, options: { isolation } })]
    await started.promise
    results.push(ledger.consume(one, { work: () => 'second', options: { isolation } }))
    await scene.query('SELECT pg_sleep(0.1)')
    goOn.resolve()
    return Promise.allSettled(results)
  }

  it('is done once: a duplicate that comes meanwhile waits, and gets the value', async () => {
    const [first, second] = await twoAtOnce(scene.ledger(), 'first')
    expect(first).toMatchObject({ value: { duplicate: false, value: 'first' } })
    expect(second).toMatchObject({ value: { duplicate: true, value: 'first' } })
  })

  it('is done by the duplicate where the first one fails', async () => {
    const error = new Error('no')
    const [first, second] = await twoAtOnce(scene.ledger(), error)
    expect(first).toMatchObject({ reason: error })
    expect(second).toMatchObject({ value: { duplicate: false, value: 'second' } })
  })
})

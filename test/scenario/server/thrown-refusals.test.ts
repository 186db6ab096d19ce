import { expect, it } from 'vitest'
import { guardOf } from '../../../src/server/guard/begin.ts'
import type { Session } from '../../../src/server/guard/session.ts'
import { fetchInbound } from '../../../src/server/http/fetch-handler.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

const DECLINED = { status: 402, headers: [], body: null }

/** The session of an external handler, whose framework makes a 402 of what it throws. */
async function externalSession() {
  const shop = protectedShop({}, { external: true })
  const begun = await guardOf(shop.ledger, { external: true }).begin(fetchInbound(ask('k'), 1000))
  if (begun.kind === 'answered') throw new Error(`Answered with ${begun.answer.status}`)
  const session: Session = begun.session
  return { shop, session }
}

it('an external handler that throws does not refuse its request for good: nobody knows whether it was done', async () => {
  const { shop, session } = await externalSession()
  const sent = await session.fail(new Error('no funds'), { answer: DECLINED })
  expect([sent?.status, sent?.headers.some(([name]) => name === 'retry-after')]).toEqual([503, false])
  expect((await shop.ledger.find('public', 'k'))?.state).toBe('unknown')
})

it('an external handler that has said notDone() and throws has the refusal recorded', async () => {
  const { shop, session } = await externalSession()
  session.context.notDone()
  expect((await session.fail(new Error('no funds'), { answer: DECLINED }))?.status).toBe(402)
  expect((await shop.ledger.find('public', 'k'))?.answer?.status).toBe(402)
})

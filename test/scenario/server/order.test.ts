import { expect, it } from 'vitest'
import { json } from '../../../src/server/index.ts'
import { ask, protectedShop } from '../../support/protected-shop.ts'

/** Notes, in the order in which they happen, the steps of one request. */
function noted() {
  const steps: string[] = []
  const note = (step: string): void => void steps.push(step)
  const shop = protectedShop({
    authorize: () => note('authorize') as undefined,
    scope: () => {
      note('scope')
      return 'public'
    },
  })
  const { store } = shop
  for (const name of ['insert', 'find', 'takeOver', 'transact', 'complete'] as const) {
    const original = store[name].bind(store) as (...given: unknown[]) => never
    Object.assign(store, {
      [name]: (...given: unknown[]) => {
        note(name)
        return original(...given)
      },
    })
  }
  const handler = shop.serve(async (request, { effect }) => {
    note('handler')
    const order: unknown = await request.json().catch(() => undefined)
    if (order === undefined) return json({ error: 'not JSON' }, { status: 400 })
    return effect((tx) => {
      note('effect')
      shop.order(tx, 'order')
      return json({}, { status: 201 })
    })
  })
  const asked = async (request: Request): Promise<[number, ...string[]]> => {
    steps.length = 0
    const { status } = await handler(request)
    return [status, ...steps]
  }
  return { asked }
}

it('a request is described, then its key is inserted, and only then is anything done', async () => {
  const { asked } = noted()
  expect(await asked(ask('k'))).toEqual([201, 'authorize', 'scope', 'insert', 'handler', 'transact', 'effect'])
  expect(await asked(ask('k'))).toEqual([201, 'authorize', 'scope', 'insert'])
})

it("whether a request makes sense is the handler's to say, after the key is taken, and it is said once", async () => {
  const { asked } = noted()
  const broken = ask('k', { body: '{"amount":' })
  expect(await asked(broken.clone())).toEqual([400, 'authorize', 'scope', 'insert', 'handler', 'complete'])
  expect(await asked(broken)).toEqual([400, 'authorize', 'scope', 'insert'])
})

import { systemClock } from '../../../foundation/clock.ts'
import { heldKey } from '../../../server/entry/consumed.ts'
import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { answer, claimed, consumption, EXPIRED, message, rejection } from './sample-entry.ts'

const broken = new Error('the work failed')

function fails(): never {
  throw broken
}

export const messageCases: Record<string, LedgerCase> = {
  'consume: the first one does it, and a duplicate gets its value': async ({ store, message: work, count }) => {
    expectSame(
      await store.consume(message('m'), consumption(work('m', '{"n":1}'))),
      { duplicate: false, value: '{"n":1}' },
      'the first',
    )
    const second = await store.consume(message('m'), consumption(work('m', '{"n":2}')))
    expectSame(second, { duplicate: true, value: '{"n":1}' }, 'the duplicate')
    expectSame(await count('m'), 1, 'the effects')
  },
  'consume: values come back exactly': async ({ store }) => {
    for (const [at, value] of [null, '', '"Grüße, 日本, 🦀"', '\\ \' "', `"${'x'.repeat(100_000)}"`].entries()) {
      await store.consume(
        message(`m${at}`),
        consumption(() => value),
      )
      const again = await store.consume(message(`m${at}`), consumption(fails))
      expectSame(again, { duplicate: true, value }, `value ${at}`)
    }
  },
  'consume: what the work throws comes out as it is, and the next one does it': async (subject) => {
    const { store, message: work, count } = subject
    const error = await rejection(store.consume(message('m'), consumption(work('m', fails))))
    expectSame([error === broken, await count('m')], [true, 0], 'error and effects')
    const next = await store.consume(message('m'), consumption(work('m', null)))
    expectSame([next, await count('m')], [{ duplicate: false, value: null }, 1], 'the next one')
  },
  'consume: of twenty at the same time one does it, and all get its value': async ({ store, message: work, count }) => {
    const each = Array.from({ length: 20 }, (_, at) => store.consume(message('m'), consumption(work('m', `"${at}"`))))
    const consumed = await Promise.all(each)
    expectSame(consumed.filter(({ duplicate }) => !duplicate).length, 1, 'how many did it')
    expectSame([new Set(consumed.map(({ value }) => value)).size, await count('m')], [1, 1], 'values and effects')
  },
  'consume: of several whose work fails now and then one does it': async ({ store, message: work, count }) => {
    const ends = [fails, fails, '"third"', '"fourth"', fails]
    const each = ends.map((end) => store.consume(message('m'), consumption(work('m', end))))
    const done = (await Promise.allSettled(each)).filter(({ status }) => status === 'fulfilled')
    expectSame([done.length > 0, await count('m')], [true, 1], 'one consumer, and the effects')
  },
  'consume: an id belongs to its scope, and is no key': async ({ store, message: work, count }) => {
    await claimed(store, 'm')
    await store.consume(message('m', { scope: 'one' }), consumption(work('m', null)))
    await store.consume(message('m', { scope: 'two' }), consumption(work('m', null)))
    await store.consume(message('m'), consumption(work('m', null)))
    expectSame(await count('m'), 3, 'the effects')
  },
  'consume: an entry under its key holds it, and one that is done makes it a duplicate': async (subject) => {
    const { store, message: work, count } = subject
    const claim = await claimed(store, heldKey('m'))
    await store.abandon(claim, systemClock.now())
    const held = await store.consume(message('m'), consumption(work('m', '1')))
    expectSame(held, { duplicate: false, value: null, held: true }, 'the message that is held')
    await store.complete(claim, answer(), systemClock.now())
    const done = await store.consume(message('m'), consumption(work('m', '1')))
    expectSame([done, await count('m')], [{ duplicate: true, value: null }, 0], 'the one that was done')
  },
  'consume: after its retention a message is a new one': async ({ store, message: work, count }) => {
    await store.consume(message('m', EXPIRED), consumption(work('m', '1')))
    const again = await store.consume(message('m'), consumption(work('m', '2')))
    expectSame(again, { duplicate: false, value: '2' }, 'the second')
    const third = await store.consume(message('m'), consumption(work('m', '3')))
    expectSame([third, await count('m')], [{ duplicate: true, value: '2' }, 2], 'the third, and the effects')
  },
}

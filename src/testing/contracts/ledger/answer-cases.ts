import type { RecordedAnswer } from '../../../server/entry/entry.ts'
import type { LedgerStore } from '../../../server/ledger/port.ts'
import { expectSame } from '../journal/expect.ts'
import type { LedgerCase } from './contract-case.ts'
import { answer, claimed, entryAt, met, now, transact, transacted } from './sample-entry.ts'

/** Recorded both ways; what comes back is compared both ways. */
async function comesBack(store: LedgerStore, given: RecordedAnswer, what: string): Promise<void> {
  await store.complete(await claimed(store, `${what} outside`), given, now())
  await transacted(
    store,
    transact(await claimed(store, `${what} inside`), () => ({ kind: 'recorded', writes: 'committed', answer: given })),
  )
  for (const key of [`${what} outside`, `${what} inside`]) {
    expectSame((await entryAt(store, key)).answer, given, key)
    expectSame((await met(store, key)).entry.answer, given, `${key}, as a duplicate sees it`)
  }
}

export const answerCases: Record<string, LedgerCase> = {
  'answers: every byte of a body comes back': async ({ store }) => {
    const every = Uint8Array.from({ length: 256 }, (_, at) => at)
    await comesBack(store, answer({ body: every }), 'binary')
    await comesBack(store, answer({ body: new TextEncoder().encode('{"b":1, "a":1.0,\u0000"n":1e2}') }), 'text')
    await comesBack(store, answer({ body: every.subarray(10, 20) }), 'a view into a larger buffer')
  },
  'answers: no body and an empty one are not the same': async ({ store }) => {
    await comesBack(store, answer({ status: 204, body: null }), 'none')
    await comesBack(store, answer({ body: new Uint8Array(0) }), 'empty')
    await comesBack(store, answer({ body: null, bodyOmitted: true }), 'too large to keep')
  },
  'answers: five megabytes come back byte for byte': async ({ store }) => {
    const body = Uint8Array.from({ length: 5 * 1024 * 1024 }, (_, at) => (at * 31) & 255)
    const key = 'large'
    await store.complete(await claimed(store, key), answer({ body }), now())
    expectSame((await met(store, key)).entry.answer?.body, body, 'the body')
  },
  'answers: headers keep their order and their repeats': async ({ store }) => {
    const headers = [
      ['x-z', '1'],
      ['link', '</a>; rel="next"'],
      ['x-a', ''],
      ['link', '</b>; rel="last"'],
      ['x-text', 'Grüße, 日本, 🦀, "quoted" \\ and \'single\''],
      ['x-latin', '\u00e9\u00ff'],
      ['__proto__', 'a name like any other'],
    ] as const
    await comesBack(store, answer({ headers }), 'many')
    await comesBack(store, answer({ headers: [] }), 'none')
  },
  'answers: any status comes back': async ({ store }) => {
    for (const status of [200, 201, 204, 302, 404, 422, 500, 599])
      await comesBack(store, answer({ status }), `${status}`)
  },
  'answers: changing an array that was given or read does not change the record': async ({ store }) => {
    const body = new Uint8Array([1, 2, 3])
    await store.complete(await claimed(store, 'a'), answer({ body }), now())
    body[0] = 99
    const taken = (await entryAt(store, 'a')).answer?.body
    if (taken) taken[1] = 99
    expectSame((await entryAt(store, 'a')).answer?.body, new Uint8Array([1, 2, 3]), 'the body')
  },
}

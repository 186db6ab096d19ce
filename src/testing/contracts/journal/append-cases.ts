import type { AppendResult, PlacedRow } from '../../../client/journal/port.ts'
import type { CaseBody } from './contract-case.ts'
import { expectSame, expectStorageError, expectThat } from './expect.ts'
import { append, held, keysOf, list, read, remove, row, SPACE } from './sample-row.ts'

function existing(result: AppendResult): PlacedRow {
  expectThat(!result.appended, 'an append of a taken id or key says so')
  return (result as { existing: PlacedRow }).existing
}

function withoutPlace(found: PlacedRow | undefined): unknown {
  if (!found) return undefined
  const { place: _, ...rest } = found
  return rest
}

export const appendCases: Record<string, CaseBody> = {
  'append: gives back every field as it was written': async ({ run }) => {
    const full = row('full', {
      id: 'order:1',
      name: 'charge',
      lane: 'order:1',
      status: 'rejected',
      owner: 'me',
      epoch: 7,
      leaseUntil: 1_800_000_000_001,
      dueAt: 1_800_000_000_002,
      notBefore: 1_800_000_000_003,
      deliveryDue: true,
      expiresAt: 1_800_000_000_004,
      laneUntil: 1_800_000_000_005,
      responseBody: new Uint8Array([9]),
    })
    expectSame(await run({ do: 'append', row: full }), { appended: true }, 'the answer')
    expectSame(withoutPlace(await run(read('full'))), full, 'the row')
  },
  'append: says which row has the id already, and writes nothing': async ({ run }) => {
    await run(append('first', { id: 'order:1' }))
    expectSame(existing(await run(append('second', { id: 'order:1' }))).key, 'first', 'the existing row')
    expectSame(await run(read('second')), undefined, 'the second row')
  },
  'append: says which row has the key already, and writes nothing': async ({ run }) => {
    await run(append('first', { head: '{"a":1}' }))
    expectSame(existing(await run(append('first', { head: '{"a":2}' }))).head, '{"a":1}', 'the existing row')
    expectSame((await run(read('first')))?.head, '{"a":1}', 'the row')
  },
  'append: where the id and the key belong to two rows, the id decides': async ({ run }) => {
    await run(append('by-key'))
    await run(append('other', { id: 'by-id' }))
    expectSame(existing(await run(append('by-key', { id: 'by-id' }))).key, 'other', 'the existing row')
  },
  'append: any number of rows may be without an id': async ({ batch, run }) => {
    await batch(append('a'), append('b'))
    expectSame(keysOf(await run(list())), 'a b', 'the rows')
  },
  'append: sees what the same batch has written before': async ({ batch }) => {
    const [first, second] = await batch(append('a', { id: 'one' }), append('b', { id: 'one' }))
    expectSame(first, { appended: true }, 'the first answer')
    expectSame(existing(second).key, 'a', 'the existing row')
  },
  'append: an id and a key are free again once the row is removed': async ({ batch }) => {
    const [, removed, again] = await batch(held('a', { id: 'one' }), remove('a'), held('a', { id: 'one' }))
    expectSame([removed, again], [true, { appended: true }], 'the answers')
  },
  'append: replaces a settled row in the namespace without a name, once the old one is removed': async ({
    batch,
    run,
  }) => {
    const level = { namespace: '', status: 'succeeded', owner: 'levels', body: null } as const
    const named = { namespace: '', owner: 'levels', epoch: 0 }
    await batch(append('https://a.example', { ...level, head: '{"tokens":1}' }))
    await batch(remove('https://a.example', named), append('https://a.example', { ...level, head: '{"tokens":0}' }))
    const rows = await run({ ...list(), namespace: '' })
    expectSame(
      rows.map(({ key, head }) => [key, head]),
      [['https://a.example', '{"tokens":0}']],
      'the rows',
    )
    expectSame(keysOf(await run(list())), '', 'the rows of another namespace')
  },
  'append: a place is never given twice': async ({ run, batch }) => {
    await batch(held('a'), held('b'))
    const before = (await run(read('b')))?.place ?? 0
    await run(remove('b'))
    await run(append('c'))
    expectThat(((await run(read('c')))?.place ?? 0) > before, 'a new row stands behind one that is gone')
  },
  'batch: one failing command undoes all of them': async ({ batch, run }) => {
    await run(held('kept'))
    const broken = append('broken', { dueAt: Number.NaN })
    await expectStorageError(batch(append('new'), remove('kept'), broken, append('later')))
    expectSame(keysOf(await run(list())), 'kept', 'the rows')
    expectSame(await run(append('new', { id: 'x' })), { appended: true }, 'a later append of the same key')
  },
  'batch: refuses what could not be given back exactly': async ({ run }) => {
    for (const field of ['namespace', 'key', 'id', 'name', 'lane', 'origin', 'owner'] as const) {
      await expectStorageError(run(append('half', { [field]: 'half \ud83d' })))
    }
    for (const field of ['version', 'epoch', 'leaseUntil', 'dueAt', 'notBefore', 'laneUntil', 'expiresAt'] as const) {
      await expectStorageError(run(append('when', { [field]: Number.NaN })))
      await expectStorageError(run(append('when', { [field]: Number.POSITIVE_INFINITY })))
    }
    await expectStorageError(run(append('what', { status: 'done' as never })))
    expectSame(await run(list()), [], 'the rows')
  },
  'batch: an empty one is fine': async ({ batch }) => {
    expectSame(await batch(), [], 'the answers')
  },
  'bodies: empty, absent and binary ones stay what they are': async ({ run }) => {
    const binary = Uint8Array.from({ length: 256 }, (_, at) => at)
    const cases = { empty: new Uint8Array(0), absent: null, binary }
    for (const [key, body] of Object.entries(cases)) {
      await run(append(key, { body, responseBody: body }))
      const found = await run(read(key))
      expectSame([found?.body, found?.responseBody], [body, body], key)
    }
  },
  'bodies: a view into a larger buffer is stored as what it shows': async ({ run }) => {
    const view = new Uint8Array([0, 1, 2, 3, 4]).subarray(1, 3)
    await run(append('view', { body: view }))
    expectSame((await run(read('view')))?.body, new Uint8Array([1, 2]), 'the body')
  },
  'bodies: five megabytes come back byte for byte and go with their row': async ({ run }) => {
    const body = Uint8Array.from({ length: 5 * 1024 * 1024 }, (_, at) => (at * 31) & 255)
    await run(held('large', { body }))
    expectSame((await run(read('large')))?.body, body, 'the body')
    expectSame(await run(remove('large')), true, 'the removal')
    await run(held('large', { body: new Uint8Array([1]) }))
    expectSame((await run(read('large')))?.body, new Uint8Array([1]), 'the new body')
  },
  'rows: what is on record does not change with the arrays that were given or taken': async ({ run }) => {
    const body = new Uint8Array([1, 2, 3])
    await run(append('a', { body }))
    body[0] = 99
    const found = await run(read('a'))
    if (found?.body) found.body[1] = 99
    expectSame((await run(read('a')))?.body, new Uint8Array([1, 2, 3]), 'the body')
  },
  'ids: any Unicode text is an id, compared exactly': async ({ run }) => {
    const ids = ['é', 'e\u0301', '日本', '🦀', 'a\u0000b', 'a', 'A', ' a', "'; DROP TABLE x; --", '']
    for (const [at, id] of ids.entries()) expectSame(await run(append(`k${at}`, { id })), { appended: true }, id)
    for (const [at, id] of ids.entries()) expectSame((await run(read(id)))?.key, `k${at}`, id)
  },
  'read: an id is found before a key of the same name': async ({ run }) => {
    await run(append('name'))
    await run(append('other', { id: 'name' }))
    expectSame((await run(read('name')))?.key, 'other', 'the row')
    expectSame((await run(read('other')))?.id, 'name', 'the row by key')
    expectSame(await run(read('nothing')), undefined, 'an unknown name')
  },
  'namespaces: ids and keys of one are unknown in another': async ({ run }) => {
    await run(append('a', { id: 'one' }))
    expectSame(await run(append('a', { id: 'one', namespace: 'else' })), { appended: true }, 'the other append')
    expectSame((await run(read('one', 'else')))?.namespace, 'else', 'the other row')
    expectSame((await run(read('one')))?.namespace, SPACE, 'the row')
    expectSame(await run(read('one', 'third')), undefined, 'a third namespace')
  },
}

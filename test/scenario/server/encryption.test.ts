import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { aesGcm as asynchronous } from '../../../src/client/encryption/aes-gcm.ts'
import { ConfigurationError, StorageError } from '../../../src/errors/classes.ts'
import type { LedgerStore, RecordedAnswer } from '../../../src/server/adapter/index.ts'
import {
  aesGcm,
  createLedger,
  json,
  type LedgerEvent,
  type LedgerOptions,
  type MemoryTransaction,
  memoryLedger,
  reply,
} from '../../../src/server/index.ts'
import { sqliteLedger } from '../../../src/server/sqlite/index.ts'
import { ask } from '../../support/protected-shop.ts'

const KEY = new Uint8Array(32).fill(1)
const SECRET = 'tok_secret_4242'

type MemoryStore = LedgerStore<MemoryTransaction>

/** A replica on the store, with the encryption that it is given. */
function replica(store: MemoryStore, encryption: LedgerOptions['encryption'], options: Partial<LedgerOptions> = {}) {
  const events: LedgerEvent[] = []
  const observe = (event: LedgerEvent): void => void events.push(event)
  const ledger = createLedger({ ...options, store, scope: 'public', encryption, observe })
  let runs = 0
  const reply = () => {
    runs++
    return json({ token: SECRET, runs }, { status: 201, headers: { 'x-card': SECRET, 'holdfast-sealed': '1' } })
  }
  return {
    ledger,
    events,
    runs: () => runs,
    plain: ledger.protect(async () => reply()),
    effect: ledger.protect(async (_, { effect }) => effect(async () => reply())),
    atomic: ledger.atomic(async () => reply()),
  }
}

const WAYS = ['plain', 'effect', 'atomic'] as const

/** All that the store has, as text. */
async function stored(store: MemoryStore): Promise<string> {
  const texts: string[] = []
  for await (const entry of store.entries({})) {
    texts.push(JSON.stringify(entry), Buffer.from(entry.answer?.body ?? []).toString('latin1'))
  }
  return texts.join('\n')
}

describe.each([
  ['synchronous', aesGcm(KEY)],
  ['asynchronous', asynchronous(KEY)],
])('answers with %s encryption', (_, encryption) => {
  it.each(WAYS)('are replayed as they were, and are not in the store (%s)', async (way) => {
    const store = memoryLedger()
    const { [way]: handle, runs, ledger } = replica(store, encryption)
    const first = await handle(ask('k'))
    const again = await handle(ask('k'))
    expect([again.status, again.headers.get('x-card'), again.headers.get('idempotency-replayed')]).toEqual([
      201,
      SECRET,
      'true',
    ])
    expect(await again.text()).toBe(await first.text())
    expect(runs()).toBe(1)
    const text = await stored(store)
    expect(text).toContain('"status":201')
    expect(text).not.toContain(SECRET)
    // A handler's own header of that name would make an answer look encrypted.
    expect((await ledger.find('public', 'k'))?.answer?.headers.map(([name]) => name)).toEqual([
      'content-type',
      'x-card',
    ])
  })

  it('cover the values of messages', async () => {
    const store = memoryLedger()
    const { ledger } = replica(store, encryption)
    const value = { token: SECRET }
    expect(await ledger.once('m', () => value, { scope: 'q' })).toEqual({ duplicate: false, value })
    expect(await ledger.once('m', () => 'again', { scope: 'q' })).toEqual({ duplicate: true, value })
    const draft = { scope: 'q', id: 'm', retentionMs: 1, now: Date.now() }
    const raw = await store.consume(draft, { work: () => null, options: {} })
    expect(raw.value).toMatch(/^holdfast-sealed:1:/)
    expect(await ledger.once('none', () => undefined, { scope: 'q' })).toEqual({ duplicate: false, value: undefined })
    expect(await ledger.once('none', () => 1, { scope: 'q' })).toEqual({ duplicate: true, value: undefined })
  })
})

describe('encryption that is introduced or changed', () => {
  it('reads answers and values from before it', async () => {
    const store = memoryLedger()
    const before = replica(store, undefined)
    await before.plain(ask('k'))
    await before.ledger.once('m', () => 'old', { scope: 'q' })
    const after = replica(store, aesGcm(KEY))
    expect((await after.plain(ask('k'))).headers.get('x-card')).toBe(SECRET)
    expect(await after.ledger.once('m', () => 'new', { scope: 'q' })).toEqual({ duplicate: true, value: 'old' })
    expect(after.runs()).toBe(0)
  })

  it('opens what an older key has sealed', async () => {
    const store = memoryLedger()
    const newKey = new Uint8Array(32).fill(9)
    await replica(store, aesGcm(KEY)).plain(ask('k'))
    const rotated = replica(store, aesGcm(newKey, { also: [KEY] }))
    expect((await rotated.plain(ask('k'))).headers.get('x-card')).toBe(SECRET)
  })

  it.each([
    ['the wrong key', aesGcm(new Uint8Array(32)), /could not be decrypted/],
    ['no key at all', undefined, /is encrypted, and this ledger has no option `encryption`/],
  ])('answers 503 with %s, and never runs again what it cannot read', async (_, encryption, sentence) => {
    const store = memoryLedger()
    await replica(store, aesGcm(KEY)).plain(ask('k'))
    await replica(store, aesGcm(KEY)).ledger.once('m', () => 1, { scope: 'q' })
    const other = replica(store, encryption)
    for (const way of WAYS) expect((await other[way](ask('k'))).status).toBe(503)
    expect(other.runs()).toBe(0)
    const failures = other.events.filter(({ type }) => type === 'ledger.failed')
    expect(failures).toMatchObject(WAYS.map(() => ({ error: { message: expect.stringMatching(sentence) } })))
    await expect(other.ledger.once('m', () => 2, { scope: 'q' })).rejects.toThrow(sentence)
  })

  it('does not open an answer that was moved to another key', async () => {
    const store = memoryLedger()
    const { plain, runs } = replica(store, aesGcm(KEY))
    await plain(ask('mine'))
    await plain(ask('yours'))
    const yours = await store.find('public', 'yours')
    const find = store.insert.bind(store)
    store.insert = async (draft) => {
      const insertion = await find(draft)
      if (insertion.kind === 'inserted') return insertion
      const { found } = insertion
      return { kind: 'found', found: { ...found, entry: { ...found.entry, answer: yours?.answer ?? null } } }
    }
    expect((await plain(ask('mine'))).status).toBe(503)
    expect(runs()).toBe(2)
  })

  /** Changes what the store gives for a key, as somebody who can write its table does. */
  function tamper(store: MemoryStore, change: (answer: RecordedAnswer) => RecordedAnswer): void {
    const insert = store.insert.bind(store)
    store.insert = async (draft) => {
      const insertion = await insert(draft)
      if (insertion.kind === 'inserted' || !insertion.found.entry.answer) return insertion
      const { found } = insertion
      const answer = change(insertion.found.entry.answer)
      return { kind: 'found', found: { ...found, entry: { ...found.entry, answer } } }
    }
  }

  it.each([
    ['an answer', json({ token: SECRET }, { status: 201 }), aesGcm(KEY)],
    ['an answer without headers and body', reply(null, { status: 204 }), aesGcm(KEY, { only: true })],
  ])('notices that the status of %s was changed', async (_, answer, encryption) => {
    const store = memoryLedger()
    const ledger = createLedger({ store, scope: 'public', encryption })
    const handler = ledger.protect(async () => answer)
    await handler(ask('k'))
    expect((await handler(ask('k'))).status).toBe(answer.status)
    tamper(store, (recorded) => ({ ...recorded, status: 400 }))
    expect((await handler(ask('k'))).status).toBe(503)
  })

  it('opens what earlier builds have sealed without the status', async () => {
    const store = memoryLedger()
    const encryption = aesGcm(KEY, { only: true })
    const { plain, runs } = replica(store, encryption)
    await plain(ask('k'))
    const head = new TextEncoder().encode('{"scope":"public","key":"k","headers":[["x-card","old"]],"hasBody":true}')
    const frame = Uint8Array.of(0, 0, 0, head.length, ...head, ...new TextEncoder().encode('old'))
    tamper(store, (recorded) => ({ ...recorded, body: encryption.seal(frame) }))
    const again = await plain(ask('k'))
    expect([again.status, again.headers.get('x-card'), await again.text(), runs()]).toEqual([201, 'old', 'old', 1])
  })

  it.each(WAYS)('takes nothing that is not encrypted once it is told to (%s)', async (way) => {
    const store = memoryLedger()
    const before = replica(store, undefined)
    await before.plain(ask('k'))
    await before.ledger.once('m', () => 'old', { scope: 'q' })
    const after = replica(store, aesGcm(KEY, { only: true }))
    expect((await after[way](ask('k'))).status).toBe(503)
    expect(after.events).toContainEqual(
      expect.objectContaining({
        error: expect.objectContaining({ message: expect.stringMatching(/is not encrypted/) }),
      }),
    )
    await expect(after.ledger.once('m', () => 'new', { scope: 'q' })).rejects.toThrow(/is not encrypted/)
    expect(after.runs()).toBe(0)
    // Its own are encrypted, also those without headers and body.
    const empty = after.ledger.protect(async () => reply(null, { status: 204 }))
    await empty(ask('own'))
    expect((await empty(ask('own'))).status).toBe(204)
    expect((await store.find('public', 'own'))?.answer?.headers).toEqual([['holdfast-sealed', '1']])
    expect(await after.ledger.once('own', () => undefined, { scope: 'q' })).toMatchObject({ duplicate: false })
    expect(await after.ledger.once('own', () => undefined, { scope: 'q' })).toMatchObject({ duplicate: true })
  })

  it('replays the status of what was erased, also if it takes only what is encrypted', async () => {
    const store = memoryLedger()
    const { plain, ledger, runs } = replica(store, aesGcm(KEY, { only: true }))
    await plain(ask('k'))
    await ledger.erase('public')
    const again = await plain(ask('k'))
    expect([again.status, again.headers.get('idempotency-body'), runs()]).toEqual([201, 'omitted', 1])
  })

  it('is a ConfigurationError if `only` is neither true nor false', () => {
    expect(() => aesGcm(KEY, { only: 'yes' as never })).toThrow(ConfigurationError)
  })

  it('records nothing where it fails', async () => {
    const broken = {
      seal: (): Uint8Array => {
        throw new Error('the key service is away')
      },
      open: (bytes: Uint8Array) => bytes,
    }
    const { effect, atomic, ledger } = replica(memoryLedger(), broken, { fingerprintKey: new Uint8Array(16) })
    expect((await effect(ask('a'))).status).toBe(503)
    expect(await ledger.find('public', 'a')).toBeUndefined()
    expect((await atomic(ask('b'))).status).toBe(503)
    await expect(ledger.once('m', () => 1, { scope: 'q' })).rejects.toThrow(StorageError)
  })

  it('is refused where it is none', () => {
    const options = { store: memoryLedger(), scope: 'public' }
    expect(() => createLedger({ ...options, encryption: { seal: 1 } as never })).toThrow(
      'The option `encryption` must be an object with seal(), open()',
    )
  })
})

describe('encryption in SQLite', () => {
  const open = (encryption: LedgerOptions['encryption']) => {
    const database = new Database(':memory:')
    const ledger = createLedger({ store: sqliteLedger({ database }), scope: 'public', encryption })
    return { database, ledger, effect: ledger.protect(async (_, { effect }) => effect(() => json({ token: SECRET }))) }
  }

  it('works inside of transactions where it does not wait', async () => {
    const { database, effect, ledger } = open(aesGcm(KEY))
    await effect(ask('k'))
    expect(await (await effect(ask('k'))).json()).toEqual({ token: SECRET })
    await ledger.once('m', () => SECRET, { scope: 'q' })
    expect(await ledger.once('m', () => 1, { scope: 'q' })).toEqual({ duplicate: true, value: SECRET })
    const rows = database.prepare('SELECT headers, body FROM holdfast_entries').all()
    const values = database.prepare('SELECT value FROM holdfast_messages').all()
    expect(rows).toMatchObject([{ headers: '[["holdfast-sealed","1"]]' }])
    expect(JSON.stringify([rows, values])).not.toContain(SECRET)
  })

  it('is a ConfigurationError that says so where it waits', async () => {
    const { effect, ledger } = open(asynchronous(KEY))
    await expect(effect(ask('k'))).rejects.toThrow(ConfigurationError)
    await expect(effect(ask('k'))).rejects.toThrow(
      /seal\(\) that returns a promise.*aesGcm\(key\) of 'holdfast\/server'/,
    )
    await expect(ledger.atomic(() => json({}))(ask('k'))).rejects.toThrow(/seal\(\) that returns a promise/)
    await expect(ledger.once('m', () => 1, { scope: 'q' })).rejects.toThrow(/seal\(\) that returns a promise/)
    expect(await ledger.find('public', 'k')).toBeUndefined()
    // Outside of a transaction it may wait.
    const plain = ledger.protect(async () => json({ token: SECRET }))
    await plain(ask('plain'))
    expect(await (await plain(ask('plain'))).json()).toEqual({ token: SECRET })
  })
})

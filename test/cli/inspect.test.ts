import { describe, expect, it } from 'vitest'
import { createLedger, json } from '../../src/server/index.ts'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import { ask } from '../support/protected-shop.ts'
import { fill, type JournalFile, journalFiles } from './support/journal-file.ts'
import { cli } from './support/run-cli.ts'

const files = journalFiles()

interface Seen {
  readonly operations?: { readonly counts: Readonly<Record<string, number>> }
  readonly ledger?: { readonly entries: number | undefined }
  readonly readOnly: boolean
}

/** What the page of the command gets to see, before Ctrl-C. */
async function inspected({ path }: Pick<JournalFile, 'path'>, ...args: readonly string[]) {
  const interrupted = new AbortController()
  let seen: Seen | undefined
  const look = async (text: string): Promise<void> => {
    const { url } = JSON.parse(text) as { url: string }
    const { origin, hash } = new URL(url)
    const headers = { authorization: `Bearer ${hash.slice('#token='.length)}` }
    seen = (await (await fetch(`${origin}/api/overview`, { headers })).json()) as Seen
    interrupted.abort()
  }
  const surroundings = { signal: interrupted.signal, out: look }
  const { code, err } = await cli(['inspect', '--db', path, '--json', ...args], surroundings)
  return { code, err, seen }
}

describe('inspect', () => {
  it.each([[[]], [['--read-only']]])('serves the operations of a journal until it is interrupted: %j', async (args) => {
    const file = files.newJournal()
    await fill(file)
    const { code, err, seen } = await inspected(file, ...args)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(seen?.operations?.counts).toMatchObject({ pending: 1, succeeded: 1, rejected: 1, failed: 1 })
    expect(seen?.ledger).toBeUndefined()
    expect(seen?.readOnly).toBe(args.length > 0)
  })

  it.each([[[]], [['--read-only']]])('serves the entries of a ledger: %j', async (args) => {
    const file = files.newJournal()
    const ledger = createLedger({ store: sqliteLedger({ database: file.database }), scope: 'public' })
    await ledger.protect(() => json({ charge: 7 }, { status: 201 }))(ask('order-1'))
    const { code, seen } = await inspected(file, ...args)
    expect(code).toBe(0)
    expect(seen?.operations).toBeUndefined()
    expect(seen?.ledger).toBeDefined()
  })

  it('changes nothing in a journal whose bodies are encrypted', async () => {
    const file = files.newJournal()
    const turned = async (bytes: Uint8Array) => bytes.map((byte) => byte ^ 7)
    const client = file.client(() => Promise.reject(new TypeError('fetch failed')), {
      encryption: { seal: turned, open: turned },
    })
    await client.post('/charges', { json: { amount: 5 }, onGiveUp: 'keep' }).catch(() => {})
    const { code, err, seen } = await inspected(file)
    expect({ code, readOnly: seen?.readOnly }).toEqual({ code: 0, readOnly: true })
    expect(err).toContain('encrypted')
  })

  it('refuses a database without tables of ours, and a port that is none', async () => {
    const file = files.newJournal()
    file.database.exec('CREATE TABLE orders (id INTEGER)')
    expect(await cli(['inspect', '--db', file.path])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no tables'),
    })
    expect(await cli(['inspect', '--db', file.path, '--port', '70000'])).toMatchObject({ code: 2 })
  })
})

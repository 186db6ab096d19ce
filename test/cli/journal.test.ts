import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { aesGcm } from '../../src/index.ts'
import { fill, journalFiles, refused } from './support/journal-file.ts'
import { cli, parsed } from './support/run-cli.ts'

const files = journalFiles()
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve = (_: T): void => {}
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const HOUR_MS = 3_600_000

interface Listed {
  readonly key: string
  readonly status: string
  readonly metadata?: unknown
}

describe('list', () => {
  it('shows operations oldest first, and takes the file from HOLDFAST_DB', async () => {
    const file = files.newJournal()
    const keys = await fill(file)
    const { code, out, err } = await cli(['list'], { env: { HOLDFAST_DB: file.path } })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const lines = out.trim().split('\n')
    expect(lines[0]).toMatch(/^KEY +STATUS +ACCEPTED +TRIES +REQUEST +ID +NOTE$/)
    expect(lines.slice(1).map((line) => line.split(/ +/).slice(0, 2))).toEqual([
      [keys.done, 'succeeded'],
      [keys.rejected, 'rejected'],
      [keys.failed, 'failed'],
      [keys.kept, 'pending'],
    ])
  })

  it('filters by status, name and need, and prints JSON', async () => {
    const file = files.newJournal()
    const keys = await fill(file)
    const listed = async (...more: string[]): Promise<string[]> => {
      const result = await cli(['list', '--db', file.path, '--json', ...more])
      expect(result.code).toBe(0)
      return parsed<Listed[]>(result).map(({ key }) => key)
    }
    expect(await listed('--status', 'pending')).toEqual([keys.kept])
    expect(await listed('--name', 'charge')).toEqual([keys.failed, keys.kept])
    expect(await listed('--dead')).toEqual([keys.rejected, keys.failed])
    expect(await listed('--after', 'order:2')).toEqual([keys.failed, keys.kept])
    expect(await listed('--namespace', 'other')).toEqual([])
  })

  it('stops at the limit and says that there are more', async () => {
    const file = files.newJournal()
    const keys = await fill(file)
    const { out, err } = await cli(['list', '--db', file.path, '--limit', '2', '--json'])
    expect((JSON.parse(out) as Listed[]).map(({ key }) => key)).toEqual([keys.done, keys.rejected])
    expect(err).toMatch(/There are more/)
  })

  it('fits the terminal, and never cuts a key', async () => {
    const file = files.newJournal()
    const { kept } = await fill(file)
    const { out } = await cli(['list', '--db', file.path], { columns: 100 })
    const lines = out.trimEnd().split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(out).toContain(kept)
    expect(out).toContain('…')
  })

  it('names the namespaces that have operations where this one has none', async () => {
    const file = files.newJournal()
    await fill(file)
    const { code, err } = await cli(['list', '--db', file.path, '--namespace', 'typo'])
    expect(code).toBe(0)
    expect(err).toMatch(/Others have operations: default/)
  })
})

describe('show', () => {
  it('shows one operation by id, with its attempts, and no secret', async () => {
    const file = files.newJournal()
    const { done } = await fill(file)
    const { code, out } = await cli(['show', 'order:1', '--db', file.path])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^key +${done}$`, 'm'))
    expect(out).toMatch(/^status +succeeded$/m)
    expect(out).toMatch(/^effect +applied: it was done$/m)
    expect(out).toMatch(/^TRY +STARTED +TOOK +ENDED\n1 .* 201$/m)
    expect(out).toContain('{"note":"***","password":"***","user":9}')
    expect(out).not.toMatch(/sk_live|geheim|"amount"/)
  })

  it('shows bodies only where asked', async () => {
    const file = files.newJournal()
    await fill(file)
    const { out } = await cli(['show', 'order:3', '--db', file.path, '--with-bodies'])
    expect(out).toContain('request\n{"amount":6}\n')
    const show = async (id: string) =>
      parsed<Record<string, unknown>>(await cli(['show', id, '--db', file.path, '--with-bodies', '--json']))
    expect(await show('order:3')).toMatchObject({ request: { body: { text: '{"amount":6}' } } })
    // The journal has dropped the body of what has succeeded.
    expect(await show('order:1')).toMatchObject({ request: { body: null }, response: { status: 201 } })
  })

  it('refuses an operation that is not there', async () => {
    const file = files.newJournal()
    await fill(file)
    const { code, err } = await cli(['show', 'order:9', '--db', file.path])
    expect({ code, err }).toEqual({ code: 1, err: 'holdfast: No operation order:9 is in the namespace default\n' })
  })
})

describe('export', () => {
  it('prints JSON lines without bodies and query strings, unless asked', async () => {
    const file = files.newJournal()
    await fill(file)
    const { out, code } = await cli(['export', '--db', file.path])
    expect(code).toBe(0)
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ id }) => id)).toEqual(['order:1', 'order:2', 'order:3', 'order:4'])
    expect(out).not.toMatch(/amount|customer=9|sk_live/)
    const whole = await cli(['export', '--db', file.path, '--with-bodies', '--status', 'failed'])
    expect(whole.out).toMatch(/"amount\\":6/)
    expect(whole.out).toMatch(/customer=9/)
  })
})

describe('cancel and drop', () => {
  it('cancels what is pending, and refuses what has ended', async () => {
    const file = files.newJournal()
    await fill(file)
    expect(await cli(['cancel', 'order:4', '--db', file.path])).toMatchObject({ code: 0, err: '' })
    expect(parsed(await cli(['show', 'order:4', '--db', file.path, '--json']))).toMatchObject({ status: 'cancelled' })
    const again = await cli(['cancel', 'order:4', '--db', file.path])
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toMatch(/nothing to cancel/)
  })

  it('drops the record of an operation, whatever its status', async () => {
    const file = files.newJournal()
    await fill(file)
    for (const id of ['order:1', 'order:3', 'order:4']) {
      expect(await cli(['drop', id, '--db', file.path, '--json'])).toMatchObject({ code: 0 })
    }
    const left = parsed<{ id: string }[]>(await cli(['list', '--db', file.path, '--json']))
    expect(left.map(({ id }) => id)).toEqual(['order:2'])
  })

  it('drops a record that cannot be read, once a resume has set it aside, so that its lane goes on', async () => {
    const file = files.newJournal()
    const kept = file.client(refused, { onGiveUp: 'keep', retry: false })
    for (const id of ['one', 'two']) await kept.post('/charges', { id, lane: 'a', deadline: 50 }).catch(() => {})
    file.database.exec("UPDATE holdfast_operations SET head = '{', set_aside = 1 WHERE id = 'one'")
    expect(await cli(['show', 'one', '--db', file.path])).toMatchObject({ code: 1 })
    expect(await cli(['drop', "o'ne", '--db', file.path])).toMatchObject({ code: 1 })
    expect((await cli(['drop', 'one', '--db', file.path])).out).toMatch(/dropped.*could not be read/)
    expect(await cli(['drop', 'one', '--db', file.path])).toMatchObject({ code: 1 })
    const left = parsed<{ id: string }[]>(await cli(['list', '--db', file.path, '--json']))
    expect(left.map(({ id }) => id)).toEqual(['two'])
  })

  it('drops a record whose status is none', async () => {
    const file = files.newJournal()
    await fill(file)
    file.database.exec("UPDATE holdfast_operations SET status = 'banana' WHERE id = 'order:4'")
    expect(await cli(['show', 'order:4', '--db', file.path])).toMatchObject({ code: 1 })
    expect((await cli(['drop', 'order:4', '--db', file.path])).out).toMatch(/dropped.*could not be read/)
  })

  it('does not drop what a runner is working on', async () => {
    const file = files.newJournal()
    const { promise, resolve: answer } = withResolvers<Response>()
    const client = file.client(() => promise)
    const call = client.post('/charges', { json: 1, id: 'order:5' })
    await call.accepted
    const { code, err } = await cli(['drop', 'order:5', '--db', file.path])
    expect(code).toBe(1)
    expect(err).toMatch(/being worked on/)
    answer(Response.json({ fine: true }))
    expect(await call.json()).toEqual({ fine: true })
  })
})

describe('prune', () => {
  it('deletes what has outlived its retention, and nothing else', async () => {
    const file = files.newJournal()
    await fill(file)
    expect(parsed(await cli(['prune', '--db', file.path, '--json']))).toEqual({ operations: 0 })
    const later = await cli(['prune', '--db', file.path], { now: () => Date.now() + 25 * HOUR_MS })
    expect(later.out).toMatch(/^journal: [2-9] records deleted$/m)
    const left = parsed<{ id: string }[]>(await cli(['list', '--db', file.path, '--json']))
    expect(left.map(({ id }) => id)).toEqual(['order:3', 'order:4'])
  })

  it('leaves a settlement that no handler has taken, which is then listed as a dead letter', async () => {
    const file = files.newJournal()
    await file.client(async () => Response.json({})).post('/charges', { json: 1, id: 'order:7', name: 'charge' })
    const dead = ['list', '--dead', '--db', file.path]
    expect((await cli(dead)).out).not.toContain('order:7')
    const now = (): number => Date.now() + 25 * HOUR_MS
    await cli(['prune', '--db', file.path], { now })
    expect((await cli(dead, { now })).out).toMatch(/succeeded .* order:7 +undelivered/)
    const shown = parsed(await cli(['show', 'order:7', '--db', file.path, '--json'], { now }))
    expect(shown).toMatchObject({ status: 'succeeded', reason: 'undelivered', deliveryDue: true })
  })
})

describe('stats', () => {
  it('counts by namespace and status', async () => {
    const file = files.newJournal()
    await fill(file)
    const stats = parsed<{ journal: { operations: unknown } }>(await cli(['stats', '--db', file.path, '--json']))
    expect(stats.journal).toMatchObject({
      operations: [
        { namespace: 'default', status: 'failed', count: 1 },
        { namespace: 'default', status: 'pending', count: 1 },
        { namespace: 'default', status: 'rejected', count: 1 },
        { namespace: 'default', status: 'succeeded', count: 1 },
      ],
      leased: 0,
      setAside: 0,
    })
    const { out } = await cli(['stats', '--db', file.path])
    expect(out).toMatch(/^default +pending +1$/m)
  })
})

describe('every command', () => {
  it.each([
    ['list'],
    ['show', 'x'],
    ['resume'],
    ['retry', 'x'],
    ['cancel', 'x'],
    ['drop', 'x'],
    ['prune'],
    ['stats'],
    ['doctor'],
    ['export'],
    ['migrate'],
    ['entries'],
    ['resolve', 'a', 'x', '--not-done'],
  ])('%s makes no database where there is none', async (...args) => {
    const path = files.newPath()
    const { code, out, err } = await cli([...args, '--db', path])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^holdfast: There is no file/)
    expect(existsSync(path)).toBe(false)
  })

  it.each([['list'], ['show', 'x'], ['resume'], ['stats'], ['prune'], ['entries']])(
    '%s makes no tables in a database of something else',
    async (...args) => {
      const path = files.newPath()
      new Database(path).exec('CREATE TABLE shop (id INTEGER)').close()
      const before = readFileSync(path)
      const { code, err } = await cli([...args, '--db', path])
      expect(code).toBe(1)
      expect(err).toMatch(/has no (journal |ledger )?tables/)
      expect(readFileSync(path).equals(before)).toBe(true)
    },
  )

  it('refuses a file that is no database, and leaves it as it is', async () => {
    const path = files.newPath()
    writeFileSync(path, 'this is a text of more than sixteen bytes, and no database at all')
    const { code, err } = await cli(['list', '--db', path])
    expect(code).toBe(1)
    expect(err).toMatch(/is not a SQLite database/)
  })

  it('that only reads changes nothing, and leaves even the log of a crash as it is', async () => {
    const file = files.newJournal()
    await fill(file)
    const crashed = files.newPath()
    for (const end of ['', '-wal']) copyFileSync(`${file.path}${end}`, `${crashed}${end}`)
    const bytes = (): string[] => ['', '-wal'].map((end) => readFileSync(`${crashed}${end}`).toString('base64'))
    const before = bytes()
    for (const args of [['list'], ['show', 'order:1'], ['stats'], ['doctor'], ['export']]) {
      expect((await cli([...args, '--db', crashed])).out).not.toBe('')
    }
    expect(bytes()).toEqual(before)
  })

  it.each([
    [['list', '--limit', '0'], /whole number/],
    [['list', '--status', 'gone'], /Allowed choices/],
    [['list', '--db', 'mysql://x/y'], /postgres:\/\//],
    [['list', '--db', ':memory:'], /nothing to see/],
    [['list', '--colour'], /unknown option/],
    [['show'], /missing required argument/],
    [['shwo'], /Did you mean show/],
    [['resume', '--header', 'Authorization: Bearer geheim', '--db', 'x'], /--header needs --base-url/],
    [['resume', '--header', 'Bearer geheim'], /Name: value/],
    [['resolve', 'a', 'b'], /either --done/],
    [['retry', 'x', '--deadline', 'soon'], /duration/],
  ])('refuses wrong usage with exit code 2: %j', async (args, message) => {
    const { code, out, err } = await cli(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('shows its help with examples', async () => {
    const { out } = await cli(['--help'])
    const commands = [...out.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].map(([, name = '']) => name)
    expect(commands).toHaveLength(16)
    for (const command of commands.filter((name) => name !== 'help')) {
      const help = await cli([command, '--help'])
      expect(help.code).toBe(0)
      expect(help.out).toMatch(/\nExamples:\n {2}holdfast /)
      expect(help.out).toMatch(/--json/)
    }
  })

  it('refuses to send bodies that are encrypted', async () => {
    const file = files.newJournal()
    const client = file.client(refused, { encryption: aesGcm(new Uint8Array(32)), honoursKeys: true })
    await client.post('/charges', { json: 1, id: 'order:6', onGiveUp: 'keep' }).catch(() => {})
    for (const args of [['resume'], ['retry', 'order:6']]) {
      const { code, err } = await cli([...args, '--db', file.path])
      expect(code).toBe(1)
      expect(err).toMatch(/is encrypted, or damaged/)
    }
  })
})

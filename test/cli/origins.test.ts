import { describe, expect, it } from 'vitest'
import type { OriginRow, OriginsPage } from '../../src/cli/inspect/wire.ts'
import type { GateLimits } from '../../src/client/gate/gate-limits.ts'
import { type GateState, newGateState } from '../../src/client/gate/gate-state.ts'
import { levelCommands } from '../../src/client/journal/level-rows.ts'
import { startInspector } from '../../src/inspector/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { type JournalFile, journalFiles, refused } from './support/journal-file.ts'
import { cli, parsed } from './support/run-cli.ts'

const files = journalFiles()
const API = 'https://api.test'
const MINUTE = 60_000
const LIMITS: GateLimits = {
  budget: { ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 2 },
  breaker: { openAfterMs: 5000, openForMs: 2000 },
}

/** What a client has written of an origin. */
async function putLevel(file: JournalFile, change: Partial<GateState>, { origin = API, limits = LIMITS } = {}) {
  const journal = sqliteJournal({ database: file.database, durability: 'process' })
  await journal.open()
  const now = Date.now()
  const level = { ...newGateState(limits, now), ...change, limits }
  await journal.execute(levelCommands({ origin, level, until: now + 5 * MINUTE }))
}

/** It must not matter how long the test takes: for an hour there are pauses between kept operations. */
const PAUSED = (): Partial<GateState> => ({ gapMs: 60_000, keptAt: Date.now() + 100_000 })

/** Leaves a pending operation for each of these URLs, accepted an hour ago, due and free. */
async function leaveBacklog(file: JournalFile, urls: readonly string[]) {
  const client = file.client(refused, { honoursKeys: true, breaker: false, budget: false })
  const keys: string[] = []
  for (const url of urls) {
    const call = client.post(url, { json: 1, onGiveUp: 'keep' })
    await call.catch(() => {})
    keys.push(call.key)
  }
  await client.close()
  makeOverdue(file)
  return keys
}

/** Accepted an hour ago, due and free; and nothing is known of any origin. */
function makeOverdue(file: JournalFile): void {
  change(file, { acceptedAt: Date.now() - 60 * MINUTE })
  file.database.exec(`UPDATE holdfast_operations SET due_at = 1, not_before = 0, lease_until = 0, owner = NULL;
    DELETE FROM holdfast_operations WHERE namespace = ''`)
}

function change({ database }: JournalFile, head: Record<string, unknown>, key = '%'): void {
  const rows = database.prepare("SELECT place, head FROM holdfast_operations WHERE namespace <> '' AND key LIKE ?")
  for (const { place, head: text } of rows.all(key) as { place: number; head: string }[]) {
    const changed = JSON.stringify({ ...JSON.parse(text), ...head })
    database.prepare('UPDATE holdfast_operations SET head = ? WHERE place = ?').run(changed, place)
  }
}

/** What the page of the inspector gets to see of the origins. */
async function originsAt(url: string): Promise<readonly OriginRow[]> {
  const { origin, hash } = new URL(url)
  const headers = { authorization: `Bearer ${hash.slice('#token='.length)}` }
  const answer = await fetch(`${origin}/api/origins`, { headers })
  return ((await answer.json()) as OriginsPage).origins
}

interface Finding {
  readonly check: string
  readonly level: string
  readonly found: string
}

/** The findings that speak of what is pending, and the exit code. */
async function examine({ path }: JournalFile) {
  const result = await cli(['doctor', '--db', path, '--json'])
  const { findings } = parsed<{ findings: Finding[] }>(result)
  const checks = ['unattended', 'waiting', 'held back']
  const seen = findings.filter(({ check }) => checks.includes(check))
  return { code: result.code, seen: seen.map(({ level, check, found }) => `${level} ${check}: ${found}`) }
}

describe('list', () => {
  it('says of what is due which origin holds it back, how many wait, and when the next request goes', async () => {
    const file = files.newJournal()
    await leaveBacklog(file, ['/a', '/b', 'https://well.test/c'])
    const now = Date.now()
    const failing = { failures: 4, failedAt: now - 7000, triedAt: now, probeAt: now + 800, at: now }
    await putLevel(file, { ...failing, pauseMs: 500 })
    const since = new Date(now - 7000).toISOString().replace(/\.\d+/, '')
    const { out, err } = await cli(['list', '--db', file.path], { now: () => now })
    expect(out.match(/held back: breaker open, failing since/g)).toHaveLength(2)
    expect(out).toMatch(/well\.test\/c .*due/)
    expect(err).toBe(`held back: ${API} breaker open, failing since ${since}; 2 wait; next request in 0.8 s\n`)
    const json = parsed<{ heldBack?: string }[]>(await cli(['list', '--db', file.path, '--json'], { now: () => now }))
    expect(json.map(({ heldBack }) => heldBack)).toEqual([
      `breaker open, failing since ${since}`,
      `breaker open, failing since ${since}`,
      undefined,
    ])
    const shown = await cli(
      [
        'show',
        '--db',
        file.path,
        parsed<{ key: string }[]>(await cli(['list', '--db', file.path, '--json']))[0]?.key ?? '',
      ],
      { now: () => now },
    )
    expect(shown.out).toContain(`held back: breaker open, failing since ${since}`)
  })

  it('reads it with the limits of the client that wrote it', async () => {
    const file = files.newJournal()
    await leaveBacklog(file, ['/a'])
    const now = Date.now()
    const patient = { ...LIMITS, breaker: { openAfterMs: 60_000, openForMs: 2000 } }
    const failing = { failures: 4, failedAt: now - 7000, probeAt: now + 800, at: now, pauseMs: 500 }
    await putLevel(file, failing, { limits: patient })
    const { err } = await cli(['list', '--db', file.path], { now: () => now })
    expect(err).toMatch(/^held back: https:\/\/api\.test failing since .*; 1 waits; next request in 0\.8 s\n$/)
  })

  it('says nothing of an origin that is well, or of which the journal has only old news', async () => {
    const file = files.newJournal()
    await leaveBacklog(file, ['/a'])
    await putLevel(file, {})
    expect(await cli(['list', '--db', file.path])).toMatchObject({ err: '', out: expect.not.stringContaining('held') })
    await putLevel(file, { ...PAUSED(), at: Date.now() - 6 * MINUTE })
    expect(await cli(['list', '--db', file.path])).toMatchObject({ err: '', out: expect.not.stringContaining('held') })
  })
})

describe('doctor', () => {
  it('finds what nobody resumes', async () => {
    const file = files.newJournal()
    const [key] = await leaveBacklog(file, ['/a'])
    expect(await examine(file)).toEqual({
      code: 1,
      seen: [`problem unattended: pending, and no process resumes them: ${key}`],
    })
  })

  it('does not take for abandoned what its origin holds back', async () => {
    const file = files.newJournal()
    await leaveBacklog(file, ['/a', '/b'])
    await putLevel(file, PAUSED())
    const { code, seen } = await examine(file)
    expect(code).toBe(0)
    expect(seen).toEqual([
      expect.stringMatching(
        /^warning held back: https:\/\/api\.test pause between kept operations; 2 wait; next request in \d+(\.\d)? s$/,
      ),
    ])
  })

  it('does not take for abandoned what waits behind others in a resume that is under way', async () => {
    const file = files.newJournal()
    await leaveBacklog(file, ['/a', '/b', '/c'])
    const stop = new AbortController()
    let isAsked = (): void => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const answer = (): Promise<Response> => {
      isAsked()
      return new Promise(() => {})
    }
    const client = file.client(answer, { attemptTimeout: '1h' })
    const resume = client.resume({ continuous: true, concurrency: 1, signal: stop.signal })
    await asked
    expect(await examine(file)).toEqual({ code: 0, seen: [] })
    stop.abort()
    void resume.catch(() => {})
    await client.close({ grace: 0 })
    // Its runner is gone, and long ago.
    change(file, { attempts: [] })
    makeOverdue(file)
    expect(await examine(file)).toMatchObject({ code: 1, seen: [expect.stringMatching(/^problem unattended/)] })
  })

  it('does not take for abandoned what was tried lately, and is tried again later', async () => {
    const file = files.newJournal()
    const [first = '', second = ''] = await leaveBacklog(file, ['/a', '/b'])
    const tried = (ago: number) => ({
      fruitlessRuns: 3,
      attempts: [{ number: 1, startedAt: Date.now() - ago, durationMs: 5, fault: 'ECONNREFUSED' }],
    })
    change(file, tried(4 * MINUTE), first)
    expect(await examine(file)).toEqual({ code: 0, seen: [] })
    change(file, tried(20 * MINUTE), first)
    const { seen } = await examine(file)
    expect(seen).toEqual([`problem unattended: pending, and no process resumes them: ${first}, ${second}`])
  })

  it('warns of an origin that is passed over while others of its namespace are resumed', async () => {
    const file = files.newJournal()
    const [tried = '', passed] = await leaveBacklog(file, ['/a', 'https://other.test/b'])
    const attempts = [{ number: 1, startedAt: Date.now(), durationMs: 5, status: 503 }]
    change(file, { fruitlessRuns: 1, attempts }, tried)
    const { code, seen } = await examine(file)
    expect(code).toBe(0)
    expect(seen).toEqual([
      `warning waiting: due at https://other.test for over a minute, while a resume works for other origins: ${passed}`,
    ])
  })

  it('does not take for abandoned what waits for its turn in a lane', async () => {
    const file = files.newJournal()
    const client = file.client(() => Response.json({}, { status: 400 }))
    await client.post('/first', { json: 1, lane: 'a', id: 'first' }).catch(() => {})
    await client.close()
    const other = file.client(refused, { honoursKeys: true })
    await other.post('/second', { json: 2, lane: 'a', onGiveUp: 'keep', deadline: 50 }).catch(() => {})
    await other.close()
    makeOverdue(file)
    expect(await examine(file)).toEqual({ code: 0, seen: [] })
    await cli(['cancel', '--db', file.path, 'first'])
    expect(await examine(file)).toMatchObject({ code: 1, seen: [expect.stringMatching(/^problem unattended/)] })
  })
})

describe('the inspector', () => {
  it('of a journal shows what the service has written there, each time that it is asked', async () => {
    const file = files.newJournal()
    await leaveBacklog(file, ['/a', '/b', 'https://other.test/c'])
    const interrupted = new AbortController()
    const seen: (readonly OriginRow[])[] = []
    const look = async (text: string): Promise<void> => {
      const { url } = JSON.parse(text) as { url: string }
      seen.push(await originsAt(url))
      await putLevel(file, { ...PAUSED(), succeededAt: 7, tokens: 1 })
      seen.push(await originsAt(url))
      interrupted.abort()
    }
    await cli(['inspect', '--db', file.path, '--json'], { signal: interrupted.signal, out: look })
    expect(seen[0]).toEqual([
      { origin: API, waiting: 2, inFlight: 0 },
      { origin: 'https://other.test', waiting: 1, inFlight: 0 },
    ])
    const pause = /^pause between kept operations; 2 wait; next request in \d+(\.\d)? s$/
    expect(seen[1]).toMatchObject([
      { origin: API, state: 'healthy', waiting: 2, reason: expect.stringMatching(pause), succeededAt: 7 },
      { origin: 'https://other.test', waiting: 1 },
    ])
    expect(seen[1]?.[0]?.budget?.burst).toBe(10)
  })

  it('of a client shows what its gates do', async () => {
    const file = files.newJournal()
    const client = file.client(() => new Promise(() => {}), { limits: { concurrency: 1 } })
    const inspector = await startInspector({ client })
    const calls = [client.post('/a', { json: 1 }), client.post('/b', { json: 2 })]
    await Promise.all(calls.map(({ accepted }) => accepted))
    const reason = 'as many as `limits` allows; 1 waits'
    expect(await originsAt(inspector.url)).toMatchObject([
      { origin: API, state: 'healthy', waiting: 1, inFlight: 1, reason, budget: { tokens: 2, burst: 10 } },
    ])
    for (const call of calls) void call.cancel()
    await Promise.allSettled(calls)
    await inspector.close()
  })
})

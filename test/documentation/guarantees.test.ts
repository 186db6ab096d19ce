import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type BodyError,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type HoldfastError,
  type Journal,
  memoryJournal,
  type Settlement,
  StorageError,
} from '../../src/index.ts'
import { isCommit } from '../../src/testing/command-meaning.ts'
import { crashAt } from '../../src/testing/crash-at.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import type { ScriptedStep } from '../../src/testing/scripted-fetch.ts'
import { elapse, failure, ORIGIN, rejection, rowsOf, type Scenario, scenario } from '../support/client-scenario.ts'
import { root } from './support/pages.ts'

/*
 * The tables of docs/guarantees.md, row by row: what a caller sees at each point of failure. A row is found by
 * its first cell; a row without a case here names the test that shows it.
 */

interface Case {
  readonly steps: readonly ScriptedStep[]
  readonly client?: ClientOptions
  readonly call?: CallOptions
  readonly sees: Partial<HoldfastError> & { readonly name: string }
  readonly requests: number
  /** What operations() shows afterwards. */
  readonly left?: readonly string[]
}

const always = (step: ScriptedStep): readonly ScriptedStep[] => [{ ...step, repeat: true } as ScriptedStep]
const oneAttempt: ClientOptions = { retry: false }
const failing = (journal: Journal): Journal => ({
  level: 'power',
  open: () => journal.open(),
  execute: () => Promise.reject(new StorageError('disk full')),
  close: () => journal.close(),
})
const throwing = (): never => {
  throw new Error('a bug')
}

const KEY_REUSED: ScriptedStep = {
  status: 422,
  headers: { 'content-type': 'application/problem+json' },
  json: { type: 'urn:holdfast:problem:key-reused' },
}

const cases: Record<string, Case> = {
  'body too large or unreadable': {
    steps: [],
    client: { maxBodyBytes: 3 },
    sees: { name: 'BodyError', effect: 'none', reason: 'not-replayable', pending: false },
    requests: 0,
    left: [],
  },
  "before the write: journal can't open, is locked, or is full": {
    steps: [],
    client: { journal: failing(memoryJournal()) },
    sees: { name: 'StorageError', effect: 'none', reason: 'storage', pending: false },
    requests: 0,
  },
  'the same, of a call with a name': {
    steps: [],
    client: { journal: failing(memoryJournal()) },
    call: { id: 'order:1' },
    sees: { name: 'StorageError', effect: 'unknown', reason: 'storage', pending: true },
    requests: 0,
  },
  "a certificate that can't be trusted": {
    steps: [{ fault: Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }) }],
    sees: { name: 'NotSentError', effect: 'none', reason: 'network', pending: false },
    requests: 1,
    left: ['failed'],
  },
  'connection refused, DNS': {
    steps: always({ fault: 'refused' }),
    sees: { name: 'NotSentError', effect: 'none', reason: 'attempts', pending: false },
    requests: 5,
    left: ['failed'],
  },
  'cut or timed out while sending': {
    steps: always({ fault: 'reset' }),
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'attempts', pending: false },
    requests: 5,
    left: ['failed'],
  },
  'the same with `honoursKeys: false` (POST, PATCH)': {
    steps: [{ fault: 'reset' }],
    client: { honoursKeys: false },
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable', pending: false },
    requests: 1,
    left: ['failed'],
  },
  'a 2xx began, its body did not arrive': {
    steps: always({ status: 200, body: 'half', stallBody: true }),
    client: oneAttempt,
    sees: { name: 'IndeterminateError', effect: 'applied', reason: 'attempts', pending: false },
    requests: 1,
    left: ['failed'],
  },
  'a hook threw: `headers`': {
    steps: [],
    client: { headers: throwing },
    sees: { name: 'NotSentError', effect: 'none', reason: 'auth', pending: false },
    requests: 0,
    left: ['failed'],
  },
  'a hook threw: `accept`': {
    steps: [{ status: 200 }],
    client: { accept: throwing },
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'network', pending: false },
    requests: 1,
    left: ['failed'],
  },
  'a hook threw: `shouldRetry`': {
    steps: [{ status: 503 }],
    client: { retry: { shouldRetry: throwing } },
    sees: { name: 'RejectedError', effect: 'unknown', reason: 'status', cause: new Error('a bug') },
    requests: 1,
  },
  'final 4xx': {
    steps: [{ status: 402 }],
    sees: { name: 'RejectedError', effect: 'none', reason: 'status', pending: false },
    requests: 1,
    left: ['rejected'],
  },
  'the same after an attempt of unknown fate, and the answer shows that the server knows the key (`Idempotency-Retention`, a replay marker, a problem of ours, the key sent back)':
    {
      steps: [{ fault: 'reset' }, { status: 402, headers: { 'idempotency-retention': '86400' } }],
      sees: { name: 'RejectedError', effect: 'none', reason: 'status', pending: false },
      requests: 2,
      left: ['rejected'],
    },
  "a 4xx that shows nothing of the kind after an attempt of unknown fate: a router's 404, a proxy's 400, an API that ignores keys":
    {
      steps: [{ fault: 'reset' }, { status: 404 }],
      sees: { name: 'RejectedError', effect: 'unknown', reason: 'status', pending: false },
      requests: 2,
      left: ['rejected'],
    },
  "a 401, 403, 429 or other gate's status after an attempt of unknown fate": {
    steps: [{ fault: 'reset' }, { status: 403 }],
    sees: { name: 'RejectedError', effect: 'unknown', reason: 'status', pending: false },
    requests: 2,
    left: ['rejected'],
  },
  '422 that says "key reused" (a problem document)': {
    steps: [KEY_REUSED],
    sees: { name: 'KeyReuseError', effect: 'none', reason: 'key-reuse', pending: false },
    requests: 1,
    left: ['rejected'],
  },
  'the same after an attempt of unknown fate': {
    steps: [{ fault: 'reset' }, KEY_REUSED],
    sees: { name: 'KeyReuseError', effect: 'unknown', reason: 'key-reuse', pending: false },
    requests: 2,
    left: ['rejected'],
  },
  '409 while the first attempt is still worked on': {
    steps: [{ fault: 'reset' }, ...always({ status: 409 })],
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'attempts', pending: false },
    requests: 5,
    left: ['failed'],
  },
  'only 425 or 429 until the end': {
    steps: always({ status: 429, headers: { 'retry-after': '60' } }),
    sees: {
      name: 'RejectedError',
      effect: 'none',
      reason: 'deadline',
      pending: false,
      retryAt: manualClock().now() + 60_000,
    },
    requests: 1,
    left: ['failed'],
  },
  'only 408 or 5xx until the end': {
    steps: [{ status: 408 }, { status: 503 }, { status: 503 }, { status: 503 }, { status: 408 }],
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'attempts', pending: false },
    requests: 5,
    left: ['failed'],
  },
  'a 5xx with `honoursKeys: false` (POST, PATCH), other than a 503 with `Retry-After`': {
    steps: [{ status: 503, headers: { 'retry-after': '1' } }, { status: 502 }],
    client: { honoursKeys: false },
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable', pending: false },
    requests: 2,
    left: ['failed'],
  },
  'do not retry': {
    steps: [{ status: 503, headers: { 'do-not-retry': 'true' } }],
    sees: { name: 'RejectedError', effect: 'unknown', reason: 'do-not-retry', pending: false },
    requests: 1,
    left: ['rejected'],
  },
  '401, `headers` is a function': {
    steps: always({ status: 401 }),
    client: { headers: () => ({ authorization: 'Bearer x' }) },
    sees: { name: 'RejectedError', effect: 'none', reason: 'auth', pending: false },
    requests: 2,
    left: ['rejected'],
  },
  'a redirect to a foreign origin (GET, HEAD, OPTIONS and QUERY are followed there), or `accept` said no': {
    steps: always({ status: 200, url: 'https://portal.example/login' }),
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'attempts', pending: false },
    requests: 5,
    left: ['failed'],
  },
  'deadline passed, or the wait would pass it': {
    steps: always({ hang: true }),
    call: { deadline: '1s' },
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'deadline', pending: false },
    requests: 1,
    left: ['failed'],
  },
  'budget empty': {
    steps: always({ status: 503 }),
    client: { budget: { burst: 1, reservePerSecond: 0 } },
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'budget', pending: false },
    requests: 2,
    left: ['failed'],
  },
  "any of these with `onGiveUp: 'keep'`": {
    steps: always({ status: 503 }),
    client: { budget: { burst: 1, reservePerSecond: 0 }, onGiveUp: 'keep' },
    sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'budget', pending: true },
    requests: 2,
    left: ['pending'],
  },
}

/** Rows that need a story, a process or a disk of their own. */
const shownBy: Record<string, string> = {
  'wrong options or URL': 'test/scenario/calls.test.ts',
  '`id` or key known for another request': 'test/scenario/join.test.ts',
  'the journal still hangs in the write when the deadline passes': 'test/scenario/edge-storage.test.ts',
  "the write's answer was lost": 'test/scenario/edge-storage.test.ts',
  "`client.retry` of what the journal can't read before the deadline": 'test/scenario/edge-joining.test.ts',
  'crash before the write': 'test/crash/kill-points.test.ts',
  'crash after the write': 'test/crash/kill-points.test.ts',
  'the same, and the client that resumes lacks credentials that the call had': 'test/scenario/credentials.test.ts',
  'the server worked, its answer was lost': 'test/crash/kill-points.test.ts',
  'a runner died five times while it held the operation': 'test/crash/neighbours.test.ts',
  'crash after the answer, before recording': 'test/crash/kill-points.test.ts',
  "the same, and a `fetch` of yours, or one that has replaced the platform's, says so":
    'test/end-to-end/effect-evidence.test.ts',
  'a 301, 302 or 303 that turned a POST, PUT, PATCH or DELETE into a GET, which was answered with a 2xx: the log-in page of a session that is over, say':
    'test/end-to-end/effect-evidence.test.ts',
  'the program exits right after a success': 'test/end-to-end/client-exit.test.ts',
  'crash after recording, before the handler': 'test/crash/kill-points.test.ts',
  'success, but the journal fails while recording': 'test/scenario/storage-faults.test.ts',
  'the journal fails between attempts, or while recording a failure': 'test/scenario/storage-faults.test.ts',
  'lease lost: the process was frozen for too long': 'test/crash/frozen-process.test.ts',
  '`close()` during a call': 'test/scenario/close.test.ts',
  'a record of a newer version': 'test/contract/journal.test.ts',
}

const stories: Record<string, () => Promise<void>> = {
  'breaker open': async () => {
    const { client, clock, fetch } = scenario(always({ status: 503 }), {
      retry: false,
      breaker: { openAfter: 1, openFor: '5s' },
    })
    const calls = ['/a', '/b', '/c'].map((path) => rejection(client.post(path)))
    await elapse(clock, 100, Promise.all(calls))
    await clock.advance(100)
    // The probe.
    await elapse(clock, 100, rejection(client.post('/a')))
    const error = await elapse(clock, 100, failure(client.post('/a')))
    expect(error).toMatchObject({ name: 'NotSentError', effect: 'none', reason: 'breaker', pending: false })
    expect(fetch.calls).toHaveLength(4)
    expect(await statuses(client)).toEqual(['failed', 'failed', 'failed', 'failed'])
  },
  'your signal aborted early': async () => {
    const { client, fetch } = scenario([])
    const reason = new Error('changed my mind')
    expect(await rejection(client.post('/a', { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(fetch.calls).toHaveLength(0)
  },
  'your signal aborts during a call': async () => {
    const { client, clock, fetch, events } = scenario(always({ hang: true }))
    const controller = new AbortController()
    const call = rejection(client.post('/a', { signal: controller.signal }))
    await clock.advance(10)
    const reason = new Error('changed my mind')
    controller.abort(reason)
    expect(await elapse(clock, 50, call)).toBe(reason)
    expect(events.at(-1)).toMatchObject({ type: 'operation.settled', status: 'cancelled', effect: 'unknown' })
    expect(fetch.calls).toHaveLength(1)
  },
  'horizon passed, also while `headers` were made': async () => {
    const asked: string[] = []
    const { client, clock, fetch } = scenario(always({ status: 503 }), {
      retry: false,
      onGiveUp: 'keep',
      reconcile: ({ key }) => void asked.push(key),
    })
    const { operation } = await elapse(clock, 100, failure(client.post('/a', { id: 'a' })))
    await clock.advance(9 * 3_600_000)
    const report = await elapse(clock, 100, client.resume())
    expect(report).toMatchObject({ claimed: 1, expired: 1 })
    expect(asked).toEqual([operation?.key])
    const error = await elapse(clock, 100, failure(client.retry('a')))
    expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown', reason: 'horizon', pending: false })
    expect(fetch.calls).toHaveLength(1)
  },
  'the handler throws': async () => {
    const { client, clock, fetch, events } = scenario(always({ status: 200 }))
    const told: string[] = []
    client.onSettled('charge', ({ status }) => {
      if (told.push(status) === 1) throw new Error('not now')
    })
    await elapse(clock, 10, client.post('/a', { name: 'charge' }))
    expect(events.at(-1)).toMatchObject({ type: 'operation.waiting', error: new Error('not now') })
    await elapse(clock, 10, client.resume())
    expect(told).toEqual(['succeeded', 'succeeded'])
    expect(fetch.calls).toHaveLength(1)
    await elapse(clock, 10, client.resume())
    expect(told).toHaveLength(2)
  },
  "a record can't be read": async () => {
    const { client, clock, journal, events } = scenario([{ status: 503 }, { status: 200 }], {
      retry: false,
      onGiveUp: 'keep',
    })
    await elapse(clock, 10, rejection(client.post('/a')))
    const [row] = await rowsOf(journal)
    if (row) await journal.execute([{ do: 'append', row: { ...row, key: 'bad', head: '{' } }])
    const report = await elapse(clock, 10, client.resume())
    expect(report).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(events.find(({ type }) => type === 'journal.failed')).toMatchObject({ key: 'bad' })
    expect(await rowsOf(journal)).toContainEqual(expect.objectContaining({ key: 'bad' }))
  },
  'the client was closed': async () => {
    const { client, fetch } = scenario([])
    await client.close()
    const closed = { code: 'HOLDFAST_CLOSED', reason: 'aborted' }
    const fresh = await failure(client.post('/a'))
    expect(fresh).toMatchObject({ name: 'NotSentError', effect: 'none', pending: false, ...closed })
    const named = await failure(client.post('/a', { id: 'a' }))
    expect(named).toMatchObject({ name: 'IndeterminateError', effect: 'unknown', pending: true, ...closed })
    expect(fetch.calls).toHaveLength(0)
  },
  '`client.retry` of what the journal does not have': async () => {
    const { client, fetch } = scenario([])
    const told = { name: 'StorageError', code: 'HOLDFAST_UNKNOWN_OPERATION', effect: 'unknown', reason: 'storage' }
    expect(await failure(client.retry('a'))).toMatchObject(told)
    expect(fetch.calls).toHaveLength(0)
  },
  'the same, of a POST or PATCH with `honoursKeys: false`': async () => {
    const { fetch, journal, clock } = await crashedWhileSending({ honoursKeys: false })
    const { client } = scenario([], { fetch, journal, clock })
    const told: Partial<Settlement>[] = []
    client.onSettled('charge', (settlement) => void told.push(settlement))
    expect(await elapse(clock, 10, client.resume())).toMatchObject({ claimed: 1, failed: 1 })
    const error = { name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable', pending: false }
    expect(told).toMatchObject([{ status: 'failed', error }])
    expect(fetch.calls).toHaveLength(1)
  },
  'the same, and the server ignores keys': async () => {
    const { client, clock, fetch, events } = scenario([{ fault: 'reset' }, { status: 201 }])
    const told: Partial<Settlement>[] = []
    client.onSettled('charge', (settlement) => void told.push(settlement))
    expect((await elapse(clock, 1000, client.post('/a', { name: 'charge' }))).status).toBe(201)
    expect(told).toMatchObject([{ status: 'succeeded', mayHaveRepeated: true }])
    expect(events).toContainEqual(expect.objectContaining({ type: 'operation.settled', mayHaveRepeated: true }))
    expect(fetch.calls).toHaveLength(2)
  },
  'a success that is not the JSON you asked for': async () => {
    const { client, clock } = scenario([{ status: 200, body: '<p>' }, { status: 204 }])
    const error = await elapse(clock, 10, failure(client.post('/a', { id: 'a' }).json()))
    expect(error).toMatchObject({ name: 'BodyError', code: 'HOLDFAST_INVALID_JSON', effect: 'applied', pending: false })
    expect(await (error as BodyError).response?.text()).toBe('<p>')
    expect(await statuses(client)).toEqual(['succeeded'])
    expect(await elapse(clock, 10, client.post('/b').json())).toBeUndefined()
  },
  'a success whose record has no body': async () => {
    const { client, clock } = scenario([{ status: 200, body: 'too large' }], { maxResponseBytes: 3 })
    const call = { id: 'a' }
    expect(await elapse(clock, 10, client.post('/a', call).text())).toBe('too large')
    expect((await elapse(clock, 10, client.post('/a', call))).status).toBe(200)
    const error = await elapse(clock, 10, failure(client.post('/a', call).text()))
    expect(error).toMatchObject({ name: 'BodyError', code: 'HOLDFAST_BODY_OMITTED', effect: 'applied' })
    expect((error as BodyError).response?.status).toBe(200)
  },
  'the handler is unregistered while the settlement is written': async () => {
    const journal = memoryJournal()
    let stop = (): void => {}
    const execute: Journal['execute'] = (commands) => {
      if (commands.some(isCommit)) stop()
      return journal.execute(commands)
    }
    const watched = { level: 'power', open: () => journal.open(), close: () => journal.close(), execute } as const
    const { client, clock } = scenario([{ status: 200 }], { journal: watched })
    stop = client.onSettled('charge', throwing)
    await elapse(clock, 10, client.post('/a', { name: 'charge' }))
    const told: string[] = []
    client.onSettled('charge', ({ status }) => void told.push(status))
    await elapse(clock, 10, client.resume())
    expect(told).toEqual(['succeeded'])
  },
  'a program starts, finds operations of an earlier run, and does not resume': async () => {
    const { journal, clock } = await crashedWhileSending()
    const { client, events } = scenario(always({ status: 200 }), { journal, clock })
    await elapse(clock, 10, client.post('/b'))
    await elapse(clock, 20_000, client.post('/c'))
    const told = events.filter(({ type }) => type === 'journal.unattended')
    expect(told).toMatchObject([{ operations: 1 }])
  },
}

/** A process that was killed while the server had its request. */
async function crashedWhileSending(options: ClientOptions = {}): Promise<Scenario> {
  const place = scenario(always({ status: 201 }))
  const { journal, fetch, clock } = place
  const crash = crashAt('send:travelling', { journal, fetch, clock })
  const dying = createClient({ baseUrl: ORIGIN, ...options, ...crash.options })
  await elapse(clock, 10, crash.during(dying.post('/charges', { name: 'charge', json: { amount: 5000 } })))
  return place
}

describe('at each point of failure, the caller sees what the page says:', () => {
  it.each(Object.entries(cases))('%s', async (_, { steps, client: options = {}, call = {}, sees, requests, left }) => {
    const { client, clock, fetch } = scenario(steps, options)
    const story = async () => ({
      error: await failure(client.post('/charges', { json: { amount: 5000 }, ...call })),
      found: left && (await statuses(client)),
    })
    const { error, found } = await elapse(clock, 120_000, story())
    expect(error).toMatchObject(sees)
    expect(error.operation?.key).toMatch(/^[0-9a-f-]{36}$/)
    expect(fetch.calls).toHaveLength(requests)
    if (left) expect(found).toEqual(left)
  })

  it.each(Object.entries(stories))('%s', (_, story) => story())

  it('and each row has its test', () => {
    const page = readFileSync(join(root, 'docs/guarantees.md'), 'utf8')
    const failures = page.slice(page.indexOf('## What happens'), page.indexOf('## What is not'))
    const points = [...failures.matchAll(/^\| (.+?) \|/gm)].map(([, point]) => point).filter((cell) => cell !== 'point')
    expect(points.sort()).toEqual([cases, stories, shownBy].flatMap(Object.keys).sort())
    for (const file of Object.values(shownBy)) expect(existsSync(join(root, file)), file).toBe(true)
  })
})

async function statuses(client: Client): Promise<string[]> {
  const found: string[] = []
  for await (const { status } of client.operations()) found.push(status)
  return found
}

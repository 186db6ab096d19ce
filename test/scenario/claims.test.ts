import { describe, expect, it } from 'vitest'
import type { CallOptions, ClientOptions, HoldfastError, OperationHandle } from '../../src/index.ts'
import { isHoldfastError, StorageError } from '../../src/index.ts'
import type { CommandKind } from '../../src/testing/command-meaning.ts'
import type { DiskFault } from '../support/fault-journal.ts'
import { on } from '../support/fault-journal.ts'
import { type Neighbourhood, neighbourhood, settle, type TestClient } from '../support/shared-clients.ts'
import { totalEffects, type Weather } from '../support/shared-model-server.ts'

/*
 * Whatever happens to a call, what its caller is told of the effect is compared with what the server has done: at that
 * moment, and, where the error says that nothing is pending, for ever after.
 */

const HOUR = 3_600_000

/** What the network and the server do with the first, the second and every further request. */
const WEATHERS: Readonly<Record<string, readonly Weather[]>> = {
  fine: ['fine'],
  refused: [{ fault: 'refused' }],
  'request lost': ['request-lost'],
  'answer lost': ['answer-lost'],
  'answer lost, then refused': ['answer-lost', { fault: 'refused' }],
  'answer lost, then a 401': ['answer-lost', { status: 401 }],
  "answer lost, then a router's 404": ['answer-lost', { status: 404 }],
  'answer lost, then a key reused': [
    'answer-lost',
    { status: 422, json: { error: 'idempotency_error' }, headers: { 'content-type': 'application/json' } },
  ],
  'answer lost, then fine': ['answer-lost', 'fine'],
  'its body cut': ['answer-cut'],
  'no JSON in it': ['answer-html'],
  'nothing in it': ['answer-empty'],
  'hangs before the work': ['hang-before'],
  'hangs after the work': ['hang-after'],
  'a 400': [{ status: 400 }],
  'a 503': [{ status: 503 }],
  'a 503, then fine': [{ status: 503 }, 'fine'],
}

const CALLS: Readonly<Record<string, CallOptions>> = {
  plain: { body: 'one' },
  'with an id': { body: 'one', id: 'order:1' },
  'with a key': { body: 'one', key: 'key-of-mine' },
  kept: { body: 'one', onGiveUp: 'keep' },
  'once only': { body: 'one', durable: false },
}

type Disk = readonly [CommandKind, DiskFault] | 'gone' | undefined

/** What the disk does, and when. */
const DISKS: Readonly<Record<string, Disk>> = {
  sound: undefined,
  'failing appends': ['append', 'fail'],
  'appends without an answer': ['append', 'fail-late'],
  'hanging appends': ['append', 'hang'],
  'failing commits': ['commit', 'fail'],
  'failing reads': ['read', 'fail'],
  'no disk at all': 'gone',
}

/** What became of an earlier call with the same id or key, in another process. */
const EARLIER: Readonly<Record<string, Weather | undefined>> = {
  'never called before': undefined,
  'done before': 'fine',
  'failed before, but done': 'answer-lost',
}

/** How the call is ended, if not by itself. */
const ENDS: Readonly<
  Record<string, (call: { client: TestClient; handle: OperationHandle; stop: AbortController }) => unknown>
> = {
  'by itself': () => undefined,
  'by its signal': ({ stop }) => stop.abort(),
  'by cancel()': ({ handle }) => void handle.cancel(),
  'by close()': ({ client }) => void client.close(),
}

const SERVERS: Readonly<Record<string, ClientOptions>> = {
  'knows keys': {},
  'ignores keys': { honoursKeys: false },
}

interface Case {
  readonly weather: readonly Weather[]
  readonly call: CallOptions
  readonly disk: Disk
  readonly earlier: Weather | undefined
  readonly end: (typeof ENDS)[string]
  readonly server: ClientOptions
}

async function told(
  place: Neighbourhood,
  { weather, call, disk, end, server }: Case,
): Promise<HoldfastError | undefined> {
  place.server.weather = (_, n) => weather[Math.min(n, weather.length) - 1] as Weather
  const client = place.client({ deadline: '5s', attemptTimeout: '1s', retry: { maxAttempts: 3 }, ...server })
  if (disk === 'gone') {
    client.journal.open = () => Promise.reject(new StorageError('There is no disk'))
    client.journal.fault = () => 'fail'
  } else if (disk) client.journal.fault = on(...disk)
  const stop = new AbortController()
  const handle = client.post('/charges', { ...call, signal: stop.signal })
  const ended = handle.json().then(
    () => undefined,
    (error: unknown) => error,
  )
  await place.clock.advance(20)
  end({ client, handle, stop })
  await place.clock.advance(40_000)
  const error = await ended
  return isHoldfastError(error) ? error : undefined
}

/** The effects of everything that can still happen with this journal. */
async function inTheEnd(place: Neighbourhood): Promise<number> {
  place.server.weather = () => 'fine'
  const client = place.client()
  await place.clock.advance(HOUR)
  await client.resume()
  await place.clock.advance(9 * HOUR)
  await client.resume()
  await settle(place.clock)
  return totalEffects(place.server)
}

/** One that was called before: only a name says that it is the same one. */
async function callBefore(place: Neighbourhood, { call, earlier, server }: Case): Promise<void> {
  if (earlier === undefined) return
  place.server.weather = () => earlier
  await place
    .client({ ...server, retry: false })
    .post('/charges', call)
    .catch(() => {})
}

function* cases(): Generator<readonly [string, Case]> {
  for (const [how, server] of Object.entries(SERVERS)) {
    for (const [sky, weather] of Object.entries(WEATHERS)) {
      for (const [kind, call] of Object.entries(CALLS)) {
        for (const [state, disk] of Object.entries(DISKS)) {
          for (const [by, end] of Object.entries(ENDS)) {
            for (const [past, earlier] of Object.entries(EARLIER)) {
              const named = call.id !== undefined || call.key !== undefined
              if (earlier !== undefined && (!named || by !== 'by itself')) continue
              if (by !== 'by itself' && Array.isArray(disk) && disk[1] === 'fail') continue
              // A server that knows the key of what is done answers from its record, and never with a 400.
              if (earlier !== undefined && sky === 'a 400' && how === 'knows keys') continue
              const name = `${kind}, ${past}, ${sky}, ${state}, ended ${by}, ${how}`
              yield [name, { weather, call, disk, earlier, end, server }]
            }
          }
        }
      }
    }
  }
}

const all = [...cases()]
const met = new Set<string>()

describe('what a caller is told of the effect', () => {
  const GROUP = 250
  for (let from = 0; from < all.length; from += GROUP) {
    it(`is what happened (${from + 1} to ${Math.min(from + GROUP, all.length)} of ${all.length})`, async () => {
      const wrong: string[] = []
      for (const [name, story] of all.slice(from, from + GROUP)) {
        const place = neighbourhood()
        await callBefore(place, story)
        const error = await told(place, story)
        if (error) met.add(`${error.name} ${error.effect}${error.pending ? ' pending' : ''}`)
        const before = totalEffects(place.server)
        const after = await inTheEnd(place)
        if (error?.effect === 'none' && before > 0) wrong.push(`${name}: none, but it was done`)
        if (error?.effect === 'applied' && before === 0) wrong.push(`${name}: applied, but it was not done`)
        if (error && !error.pending && after > before) wrong.push(`${name}: not pending, but it was done later`)
        if (after > 1) wrong.push(`${name}: done ${after} times`)
      }
      expect(wrong).toEqual([])
    })
  }

  it('is met in every way that there is', () => {
    expect([...met].sort()).toEqual([
      'BodyError applied',
      'IndeterminateError applied',
      'IndeterminateError applied pending',
      'IndeterminateError unknown',
      'IndeterminateError unknown pending',
      'KeyReuseError unknown',
      'NotSentError none',
      'NotSentError none pending',
      'RejectedError none',
      'RejectedError unknown',
      'StorageError applied',
      'StorageError applied pending',
      'StorageError none',
      'StorageError none pending',
      'StorageError unknown',
      'StorageError unknown pending',
    ])
  })
})

import { afterEach, describe, expect, it, vi } from 'vitest'
import { composeClient } from '../../../src/client/compose-client.ts'
import { leaseOnly } from '../../../src/client/coordination/lease-only.ts'
import { platform } from '../../../src/client/platform/node.ts'
import { type Client, type ClientOptions, ConfigurationError, createClient, memoryJournal } from '../../../src/index.ts'
import {
  type Crash,
  type CrashAtOptions,
  type CrashPoint,
  crashAt,
  crashPoints,
  manualClock,
} from '../../../src/testing/index.ts'
import { elapse, ORIGIN, rowsOf, turn } from '../../support/client-scenario.ts'
import { modelServer, totalEffects, type Weather } from '../../support/shared-model-server.ts'

interface Place {
  readonly clock: ReturnType<typeof manualClock>
  readonly journal: ReturnType<typeof memoryJournal>
  readonly server: ReturnType<typeof modelServer>
  client(more?: ClientOptions): Client
}

function place(): Place {
  const clock = manualClock()
  const journal = memoryJournal()
  const server = modelServer(clock)
  const shared = { baseUrl: ORIGIN, journal, clock, fetch: server.fetch, random: () => 0.5, budget: { burst: 4 } }
  return { clock, journal, server, client: (more) => createClient({ ...shared, ...more }) }
}

/** What the client that crashes has to do with. */
function worldOf({ journal, clock, server }: Place): CrashAtOptions {
  return { journal, clock, fetch: server.fetch }
}

const BODY = 'one order'

/** What the journal says: one sentence for each row. */
async function told({ journal }: Place): Promise<string[]> {
  return (await rowsOf(journal)).map(({ status, owner, head, deliveryDue }) => {
    const inFlight = JSON.parse(head).inFlightSince !== undefined
    const words = [status, owner === null ? '' : 'held', inFlight ? 'in flight' : '', deliveryDue ? 'undelivered' : '']
    return words.filter((word) => word !== '').join(', ')
  })
}

interface Story {
  readonly point: CrashPoint
  /** What the network does with the first request; then it is fine. */
  readonly first?: Weather
  readonly options?: ClientOptions
  readonly call?: { readonly id?: string; readonly name?: string }
  /** Is the work of the one that crashes to resume what an earlier one left? */
  readonly resumes?: true
  readonly left: readonly string[]
  /** Requests until the crash, and after the resume. */
  readonly requests: readonly [number, number]
  readonly effects?: 0
  /** How often the handler was told, until the crash and in all. */
  readonly handled?: readonly [number, number]
}

const UNAVAILABLE = { status: 503 }
const KEEP = { onGiveUp: 'keep', retry: false } as const
const LONG = { attemptTimeout: '1m', deadline: '1m' } as const
const NAMED = { id: 'order:1', name: 'order' }
const IN_FLIGHT = ['pending, held, in flight']

const stories: readonly Story[] = [
  { point: 'append:asked', left: [], requests: [0, 0], effects: 0 },
  { point: 'append:durable', left: IN_FLIGHT, requests: [0, 1] },
  { point: 'send:leaving', left: IN_FLIGHT, requests: [0, 1] },
  { point: 'send:travelling', left: IN_FLIGHT, requests: [1, 2] },
  { point: 'send:answered', left: IN_FLIGHT, requests: [1, 2] },
  { point: 'wait:asked', first: UNAVAILABLE, left: IN_FLIGHT, requests: [1, 2] },
  { point: 'wait:durable', first: UNAVAILABLE, left: ['pending, held'], requests: [1, 2] },
  { point: 'attempt:asked', first: UNAVAILABLE, left: ['pending, held'], requests: [1, 2] },
  { point: 'attempt:durable', first: UNAVAILABLE, left: IN_FLIGHT, requests: [1, 2] },
  { point: 'release:asked', first: UNAVAILABLE, options: KEEP, left: IN_FLIGHT, requests: [1, 2] },
  { point: 'release:durable', first: UNAVAILABLE, options: KEEP, left: ['pending'], requests: [1, 2] },
  { point: 'settle:asked', call: NAMED, left: IN_FLIGHT, requests: [1, 2], handled: [0, 1] },
  { point: 'settle:durable', call: NAMED, left: ['succeeded, held, undelivered'], requests: [1, 1], handled: [0, 1] },
  { point: 'deliver:asked', call: NAMED, left: ['succeeded, held, undelivered'], requests: [1, 1], handled: [1, 2] },
  { point: 'deliver:durable', call: NAMED, left: ['succeeded'], requests: [1, 1], handled: [1, 1] },
  { point: 'renew:asked', first: 'hang-after', options: LONG, left: IN_FLIGHT, requests: [1, 2] },
  { point: 'renew:durable', first: 'hang-after', options: LONG, left: IN_FLIGHT, requests: [1, 2] },
  { point: 'claim:asked', resumes: true, left: IN_FLIGHT, requests: [0, 1] },
  { point: 'claim:durable', resumes: true, left: IN_FLIGHT, requests: [0, 1] },
]

async function leavePending(scene: Place): Promise<void> {
  const crash = crashAt('append:durable', worldOf(scene))
  await elapse(scene.clock, 10, crash.during(scene.client(crash.options).post('/orders', { body: BODY })))
}

/** Tells the story up to its crash. */
async function tell(scene: Place, story: Story, onSettled: () => void): Promise<Crash> {
  const { server, clock } = scene
  if (story.resumes) await leavePending(scene)
  server.weather = (_, n) => (n === 1 ? (story.first ?? 'fine') : 'fine')
  const crash = crashAt(story.point, worldOf(scene))
  const client = scene.client({ ...crash.options, ...story.options })
  client.onSettled('order', onSettled)
  const post = (): Promise<unknown> => client.post('/orders', { ...story.call, body: BODY }).then(() => client.flush())
  await elapse(clock, 12_000, crash.during(story.resumes ? client.resume() : post()))
  return crash
}

describe('a crash', () => {
  it('has a story here for each of its points', () => {
    expect(stories.map(({ point }) => point)).toEqual(crashPoints)
  })

  it.each(stories)('at $point leaves what a process would leave, and a resume brings it to its end', async (story) => {
    const scene = place()
    let handled = 0
    const onSettled = (): void => void handled++
    const crash = await tell(scene, story, onSettled)

    expect(crash).toMatchObject({ reached: true, happened: expect.any(Promise) })
    expect(crash.passed.at(-1)).toBe(story.point)
    expect(await told(scene)).toEqual(story.left)
    expect([scene.server.calls.length, handled]).toEqual([story.requests[0], story.handled?.[0] ?? 0])
    expect(scene.clock.pending()).toBe(0)

    const after = scene.client()
    after.onSettled('order', onSettled)
    await elapse(scene.clock, 5000, after.resume())
    await after.close()
    expect([scene.server.calls.length, handled]).toEqual([story.requests[1], story.handled?.[1] ?? 0])
    expect(totalEffects(scene.server)).toBe(story.effects ?? 1)
    expect((await told(scene)).filter((row) => row !== 'succeeded')).toEqual([])
    expect(new Set(scene.server.calls.map(({ headers }) => headers['idempotency-key'])).size).toBeLessThan(2)
    expect(new Set(scene.server.calls.map(({ text }) => text)).size).toBeLessThan(2)
  })

  it('before a renewal leaves the old lease, and after it the new one', async () => {
    const leases = await Promise.all(
      (['renew:asked', 'renew:durable'] as const).map(async (point) => {
        const scene = place()
        await tell(scene, stories.find((story) => story.point === point) as Story, () => {})
        return (await rowsOf(scene.journal))[0]?.leaseUntil ?? 0
      }),
    )
    expect((leases[1] ?? 0) - (leases[0] ?? 0)).toBe(10_000)
  })

  it('after a claim has raised the epoch, and before it has not', async () => {
    const epochs = await Promise.all(
      (['claim:asked', 'claim:durable'] as const).map(async (point) => {
        const scene = place()
        await tell(scene, stories.find((story) => story.point === point) as Story, () => {})
        return (await rowsOf(scene.journal))[0]?.epoch ?? 0
      }),
    )
    expect((epochs[1] ?? 0) - (epochs[0] ?? 0)).toBe(1)
  })

  it('comes when the point is reached for the n-th time', async () => {
    const scene = place()
    scene.server.weather = () => UNAVAILABLE
    const crash = crashAt('send:answered', { ...worldOf(scene), occurrence: 3 })
    await elapse(scene.clock, 5000, crash.during(scene.client(crash.options).post('/orders', { body: BODY })))
    expect(scene.server.calls).toHaveLength(3)
    expect(crash.passed.filter((point) => point === 'send:answered')).toHaveLength(3)
  })

  it('does not happen while its point is not reached, and everything is as without it', async () => {
    const scene = place()
    scene.server.weather = (_, n) => (n === 1 ? 'answer-lost' : 'fine')
    const crash = crashAt('renew:asked', worldOf(scene))
    const client = scene.client(crash.options)
    const answer = await elapse(scene.clock, 5000, client.post('/orders', { body: BODY }))
    await client.close()
    expect([answer.status, crash.reached, totalEffects(scene.server)]).toEqual([201, false, 1])
    expect(await told(scene)).toEqual(['succeeded'])
    expect(scene.clock.pending()).toBe(0)
    expect(crash.passed).toEqual([
      'append:asked',
      'append:durable',
      'send:leaving',
      'send:travelling',
      'wait:asked',
      'wait:durable',
      'attempt:asked',
      'attempt:durable',
      'send:leaving',
      'send:travelling',
      'send:answered',
      'settle:asked',
      'settle:durable',
    ])
  })
})

describe('a crash in a batch', () => {
  const both = async (point: CrashPoint, occurrence: number): Promise<Place> => {
    const scene = place()
    const crash = crashAt(point, { ...worldOf(scene), occurrence })
    const client = scene.client(crash.options)
    const calls = ['a', 'b', 'c'].map((body) => client.post('/orders', { body }))
    await elapse(scene.clock, 1000, crash.during(Promise.all(calls)))
    expect(scene.server.calls).toEqual([])
    return scene
  }

  it('loses all of it where the store has not got it', async () => {
    expect(await told(await both('append:asked', 2))).toEqual([])
  })

  it('loses nothing of it where the store has it, and nobody is told', async () => {
    const scene = await both('append:durable', 2)
    expect(await told(scene)).toEqual([...IN_FLIGHT, ...IN_FLIGHT, ...IN_FLIGHT])
    expect(await elapse(scene.clock, 1000, scene.client().resume())).toMatchObject({ claimed: 3, succeeded: 3 })
    expect(totalEffects(scene.server)).toBe(3)
  })
})

describe('the client that has crashed', () => {
  const crashed = async (
    point: CrashPoint = 'send:leaving',
  ): Promise<{ scene: Place; client: Client; crash: Crash }> => {
    const scene = place()
    const crash = crashAt(point, worldOf(scene))
    const client = scene.client(crash.options)
    await elapse(scene.clock, 10, crash.during(client.post('/orders', { body: BODY })))
    return { scene, client, crash }
  }

  it('neither writes nor sends nor hears anything any more, whatever it is asked', async () => {
    const { scene, client, crash } = await crashed()
    const execute = vi.spyOn(scene.journal, 'execute')
    const ended = vi.fn()
    const ask = async (...work: readonly PromiseLike<unknown>[]): Promise<void> => {
      for (const one of work) one.then(ended, ended)
      await scene.clock.advance('1h')
    }
    await ask(client.post('/b'), client.get('/c'), client.resume(), client.operation('x'), client.flush())
    await ask(client.close())
    expect(ended).not.toHaveBeenCalled()
    expect(execute).not.toHaveBeenCalled()
    expect([scene.server.calls.length, scene.clock.pending()]).toEqual([0, 0])
    expect(crash.passed).toEqual(['append:asked', 'append:durable', 'send:leaving'])
  })

  it('has its last batch carried out if the store had it, and is not told', async () => {
    const scene = place()
    const { journal, clock, server } = scene
    const held: (() => void)[] = []
    const slow = {
      ...journal,
      level: journal.level,
      open: () => journal.open(),
      close: () => journal.close(),
      execute: async (commands: Parameters<typeof journal.execute>[0]) => {
        const wait = commands.some((command) => command.do === 'append' && command.row.origin === 'https://b.test')
        if (wait) await new Promise<void>((resolve) => held.push(resolve))
        return journal.execute(commands)
      },
    }
    server.weather = () => ({ status: 200, delay: 100 })
    const crash = crashAt('send:answered', { journal: slow, fetch: server.fetch, clock })
    const client = scene.client(crash.options)
    client.post('/a', { body: BODY }).catch(() => {})
    await clock.advance(10)
    const accepted = vi.fn()
    const handle = client.post('https://b.test/b')
    handle.accepted.then(accepted, accepted)
    handle.catch(accepted)
    await elapse(clock, 1000, crash.happened)
    for (const release of held) release()
    await turn()
    expect(await told(scene)).toEqual([...IN_FLIGHT, ...IN_FLIGHT])
    expect(accepted).not.toHaveBeenCalled()
  })

  it('is told neither of an answer nor of a fault that comes afterwards', async () => {
    const scene = place()
    const { clock, server } = scene
    server.weather = (_, n) => (n === 1 ? { status: 200, delay: 100 } : { fault: 'reset', delay: 100 })
    const crash = crashAt('send:travelling', { ...worldOf(scene), occurrence: 2 })
    const client = scene.client(crash.options)
    const ended = vi.fn()
    for (const path of ['/a', '/b']) client.get(path).then(ended, ended)
    await elapse(clock, 1000, crash.happened)
    await clock.advance(1000)
    expect(server.calls).toHaveLength(2)
    expect(ended).not.toHaveBeenCalled()
  })

  it('gets nothing from what it still holds in its hands, and nothing that fails there is heard of', async () => {
    const fails = async (): Promise<never> => {
      await turn()
      throw new Error('mine')
    }
    const open = vi.fn(fails)
    const journal = { level: 'memory', open, execute: fails, close: async () => {} } as const
    const { options, happened } = crashAt('send:travelling', { journal, fetch: fails, clock: manualClock() })
    const ended = vi.fn()
    const ask = (...work: readonly Promise<unknown>[]): void => {
      for (const one of work) one.then(ended, ended)
    }
    ask(options.journal.open(), options.journal.execute([]), options.clock.sleep(0), options.fetch(ORIGIN))
    await happened
    ask(options.journal.open(), options.journal.execute([]), options.clock.sleep(0), options.fetch(ORIGIN))
    for (let turns = 0; turns < 5; turns++) await turn()
    expect(ended).not.toHaveBeenCalled()
    expect(open).toHaveBeenCalledOnce()
  })

  it('cannot call back a request that has left', async () => {
    const { clock, journal } = place()
    const signals: AbortSignal[] = []
    const fetch = (_: unknown, init?: RequestInit): Promise<Response> => {
      if (init?.signal) signals.push(init.signal)
      return new Promise(() => {})
    }
    const crash = crashAt('send:travelling', { journal, fetch, clock, occurrence: 2 })
    const client = createClient({ baseUrl: ORIGIN, ...crash.options })
    const caller = new AbortController()
    const calls = ['a', 'b'].map((body) => client.post('/orders', { body, signal: caller.signal }))
    for (const call of calls) call.catch(() => {})
    await elapse(clock, 10, crash.happened)
    caller.abort()
    await clock.advance('1m')
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false])
  })

  it('is seen to be dead by others on this machine, so that nobody waits for its lease', async () => {
    const { scene } = await crashed()
    expect(await elapse(scene.clock, 10, scene.client().resume())).toMatchObject({ claimed: 1, succeeded: 1 })
    // Nobody can wait for it there any more, so it is not kept for longer than any other.
    await scene.clock.advance('1m')
    await scene.journal.execute([{ do: 'drop', expiredBy: scene.clock.now(), limit: 10 }])
    expect(await told(scene)).toEqual([])
  })

  it('keeps its lease until that lapses where nobody can see that', async () => {
    const scene = place()
    const { clock, journal, server } = scene
    const crash = crashAt('append:durable', worldOf(scene))
    const afar = { ...platform, coordination: leaseOnly }
    const before = composeClient(afar, { baseUrl: ORIGIN, ...crash.options })
    await elapse(clock, 10, crash.during(before.post('/orders', { body: BODY })))
    const after = composeClient(afar, { baseUrl: ORIGIN, journal, clock, fetch: server.fetch })
    expect(await elapse(clock, 10, after.resume())).toMatchObject({ claimed: 0 })
    await clock.advance('30s')
    expect(await elapse(clock, 10, after.resume())).toMatchObject({ claimed: 1, succeeded: 1 })
  })
})

describe('until it crashes', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('a request can be aborted, and its timeout fires', async () => {
    const scene = place()
    scene.server.weather = () => 'hang-before'
    const crash = crashAt('renew:asked', worldOf(scene))
    const client = scene.client({ ...crash.options, attemptTimeout: '1s', retry: false })
    const call = client.post('/orders', { body: BODY }).catch((error: unknown) => error)
    expect(await elapse(scene.clock, 1000, call)).toMatchObject({ effect: 'unknown' })
    expect(scene.clock.pending()).toBe(0)
    const signals: AbortSignal[] = []
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      if (init?.signal) signals.push(init.signal)
      return new Promise(() => {})
    }
    const { options } = crashAt('renew:asked', { ...worldOf(scene), fetch })
    const caller = new AbortController()
    scene
      .client(options)
      .get('/orders', { signal: caller.signal })
      .catch(() => {})
    await scene.clock.advance(10)
    caller.abort()
    await scene.clock.advance(10)
    expect(signals.map((signal) => signal.aborted)).toEqual([true])
  })

  it('a settlement that is delivered by a resume comes by `deliver`, not by `settle`', async () => {
    const scene = place()
    await elapse(scene.clock, 10, scene.client().post('/orders', { ...NAMED, body: BODY }))
    const crash = crashAt('renew:asked', worldOf(scene))
    const client = scene.client(crash.options)
    client.onSettled('order', () => {})
    await elapse(scene.clock, 10, client.resume())
    expect(crash.passed).toContain('deliver:durable')
    expect(crash.passed).not.toContain('settle:asked')
  })

  it('a write that is refused is not durable: a second caller with the same id joins', async () => {
    const scene = place()
    scene.server.weather = () => 'hang-before'
    const first = scene.client()
    first.post('/orders', { id: 'order:1', body: BODY }).catch(() => {})
    await scene.clock.advance(10)
    const crash = crashAt('append:durable', worldOf(scene))
    scene
      .client(crash.options)
      .post('/orders', { id: 'order:1', body: BODY })
      .catch(() => {})
    await scene.clock.advance(1000)
    expect(crash.passed).toEqual(['append:asked', 'claim:asked'])
  })

  it("the platform's fetch is used where none is given, as it is at that time", async () => {
    const crash = crashAt('send:answered', { journal: memoryJournal() })
    const fetch = vi.fn(async () => new Response('{}'))
    vi.stubGlobal('fetch', fetch)
    await crash.during(createClient({ baseUrl: ORIGIN, ...crash.options }).post('/orders'))
    expect(fetch).toHaveBeenCalledOnce()
  })

  it('the journal can do what it can do without: level, and the outbox', () => {
    const { journal } = place()
    const plain = crashAt('append:asked', { journal }).options.journal
    expect([plain.level, plain.persistIn]).toEqual(['memory', undefined])
    const persistIn = vi.fn()
    const outbox = crashAt('append:asked', { journal: { ...journal, level: 'power', persistIn } }).options.journal
    void outbox.persistIn?.('transaction', {} as never)
    expect([outbox.level, persistIn.mock.calls.length]).toEqual(['power', 1])
  })
})

describe('a point that is not reached', () => {
  it('is told by `during`, with the points that were', async () => {
    const scene = place()
    const crash = crashAt('wait:asked', worldOf(scene))
    const work = scene.client(crash.options).post('/orders', { body: BODY })
    await expect(elapse(scene.clock, 1000, crash.during(work))).rejects.toThrow(
      "crashAt: the work was fulfilled before 'wait:asked' was reached. " +
        'Points that were passed: append:asked, append:durable, send:leaving, send:travelling, send:answered',
    )
    expect(crash.reached).toBe(false)
  })

  it('is refused without a journal', () => {
    const without = crashAt as (point: CrashPoint, options?: object) => unknown
    for (const options of [undefined, {}]) {
      expect(() => without('wait:asked', options)).toThrow(
        expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining('journal') }),
      )
    }
  })

  it('is told with what the work was rejected with', async () => {
    const crash = crashAt('wait:asked', { journal: memoryJournal() })
    const cause = new Error('mine')
    const error = await crash.during(Promise.reject(cause)).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ message: expect.stringContaining('rejected'), cause })
    expect(String(error)).toContain('passed: none')
  })
})

describe('crashAt', () => {
  it('refuses a point that is none, and names the nearest', () => {
    const misspelt = (): Crash => crashAt('apend:asked' as CrashPoint, { journal: memoryJournal() })
    expect(misspelt).toThrow(ConfigurationError)
    expect(misspelt).toThrow("'apend:asked' is no point; did you mean 'append:asked'?")
  })

  it.each([undefined, false, { fallback: 'memory' }])(
    'refuses %j, which no second client could go on with',
    (journal) => {
      expect(() => crashAt('append:asked', { journal: journal as never })).toThrow(ConfigurationError)
    },
  )

  it.each([0, -1, 1.5, Number.NaN])('refuses the occurrence %s', (occurrence) => {
    expect(() => crashAt('append:asked', { journal: memoryJournal(), occurrence })).toThrow(ConfigurationError)
  })
})

import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { StorageError } from '../../../src/errors/classes.ts'
import { json, memoryLedger } from '../../../src/server/index.ts'
import { begin, call, type Got, gate } from './caller.ts'
import { FORMS, type Plan, type Service } from './forms.ts'

type Form = keyof typeof FORMS

const open: Service[] = []
afterEach(async () => {
  for (const service of open.splice(0)) await service.close()
})

async function serve(form: Form, plan: Plan): Promise<Service> {
  const service = await FORMS[form](plan)
  open.push(service)
  return service
}

/** A handler that counts, and does what it counts inside of an effect. */
function counting(plan: Omit<Plan, 'handler'> = {}): { plan: Plan; orders: string[] } {
  const orders: string[] = []
  const handler: Plan['handler'] = async (body, { effect }) => {
    await effect((tx) => {
      orders.push(body)
      tx.onRollback(() => orders.pop())
      return json({ order: orders.length }, { status: 201 })
    })
    return undefined
  }
  return { plan: { ...plan, handler }, orders }
}

function problem(got: Got): unknown {
  expect(got.header('content-type')).toBe('application/problem+json')
  const { type, status } = JSON.parse(got.body.toString()) as { type: string; status: number }
  expect(status).toBe(got.status)
  return [status, type.replace('urn:holdfast:problem:', '')]
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(Object.keys(FORMS) as Form[])('with %s', (form) => {
  it('a request without a key, or with a key that is none, is refused', async () => {
    const { plan, orders } = counting()
    const { origin } = await serve(form, plan)
    expect(problem(await call(origin, { body: '{}' }))).toEqual([400, 'key-missing'])
    for (const key of ['', 'a b', 'x'.repeat(256), '"a', ['a', 'b'], ['a', 'a'], ['"a"', '"b"']]) {
      expect(problem(await call(origin, { key, body: '{}' })), String(key)).toEqual([400, 'key-malformed'])
    }
    expect(orders).toEqual([])
  })

  it('another request under the same key is refused, and the first answer stays', async () => {
    const { plan, orders } = counting()
    const { origin } = await serve(form, plan)
    const first = await call(origin, { key: 'one', body: '{"n":1}' })
    expect(problem(await call(origin, { key: 'one', body: '{"n":2}' }))).toEqual([422, 'key-reused'])
    expect(problem(await call(origin, { key: 'one', body: '{"n":1}', path: '/other' }))).toEqual([422, 'key-reused'])
    expect(problem(await call(origin, { key: 'one', body: '{"n":1}', path: '/orders?a' }))).toEqual([422, 'key-reused'])
    expect(problem(await call(origin, { key: 'one', body: '{"n":1}', method: 'PUT' }))).toEqual([422, 'key-reused'])
    const again = await call(origin, { key: '"one"', body: ' { "n" : 1.0 } ' })
    expect([again.status, again.body.toString()]).toEqual([201, first.body.toString()])
    expect(again.header('idempotency-replayed')).toBe('true')
    expect(orders).toEqual(['{"n":1}'])
  })

  it('a duplicate in flight is refused and told when to come back', async () => {
    const held = gate()
    const entered = gate()
    const { origin } = await serve(form, {
      handler: async () => {
        entered.open()
        await held.opened
        return { status: 201, body: 'done' }
      },
    })
    const first = call(origin, { key: 'one', body: '{"n":1}' })
    await entered.opened
    const second = await call(origin, { key: 'one', body: '{"n":1}' })
    expect(problem(second)).toEqual([409, 'in-flight'])
    expect(second.header('retry-after')).toBe('1')
    expect(problem(await call(origin, { key: 'one', body: '{"n":2}' }))).toEqual([422, 'key-reused'])
    held.open()
    expect((await first).status).toBe(201)
    const third = await call(origin, { key: 'one', body: '{"n":1}' })
    expect([third.status, third.body.toString(), third.header('idempotency-replayed')]).toEqual([201, 'done', 'true'])
  })

  it('a refusal says it in the words of the API', async () => {
    const paths: unknown[] = []
    const { plan, orders } = counting({
      options: {
        refusal: ({ detail }, request) => {
          paths.push(typeof request)
          return json({ error: { type: 'idempotency_error', message: detail } })
        },
      },
    })
    const { origin } = await serve(form, plan)
    const missing = await call(origin, { body: '{}' })
    await call(origin, { key: 'one', body: '{"n":1}' })
    const reused = await call(origin, { key: 'one', body: '{"n":2}' })
    expect([missing.status, reused.status]).toEqual([400, 422])
    for (const got of [missing, reused]) {
      expect(got.header('content-type')).toBe('application/json')
      expect(got.header('idempotency-retention')).toBe('86400')
      expect(JSON.parse(got.body.toString())).toEqual({
        error: { type: 'idempotency_error', message: expect.stringMatching(/key/i) },
      })
    }
    expect(paths).toEqual(['object', 'object'])
    expect(orders).toEqual(['{"n":1}'])
  })

  it('a retry that comes too late is refused', async () => {
    const { plan, orders } = counting()
    const { origin } = await serve(form, plan)
    const headers = { 'repeatability-first-sent': 'Tue, 15 Nov 1994 08:12:31 GMT' }
    expect(problem(await call(origin, { key: 'one', body: '{}', headers }))).toEqual([412, 'window-passed'])
    expect(orders).toEqual([])
  })

  it('nothing is begun where it cannot be recorded', async () => {
    const insert = { value: () => Promise.reject(new StorageError('down')) }
    const { plan, orders } = counting({ options: { store: Object.create(memoryLedger(), { insert }) } })
    const { origin } = await serve(form, plan)
    expect(problem(await call(origin, { key: 'one', body: '{}' }))).toEqual([503, 'unavailable'])
    expect(orders).toEqual([])
  })

  it('a body that is too large is refused', async () => {
    const { plan, orders } = counting({ options: { maxRequestBytes: 1000 } })
    const { origin } = await serve(form, plan)
    const bodies = [JSON.stringify(['x'.repeat(2000)]), `[1${' '.repeat(2000)}]`, JSON.stringify(['é'.repeat(600)])]
    for (const body of bodies) {
      expect(problem(await call(origin, { key: 'one', body }))).toEqual([413, 'body-too-large'])
    }
    const text = { type: 'text/plain', body: 'x'.repeat(1001) }
    expect(problem(await call(origin, { key: 'one', ...text }))).toEqual([413, 'body-too-large'])
    expect(orders).toEqual([])
    expect((await call(origin, { key: 'one', body: JSON.stringify(['x'.repeat(990)]) })).status).toBe(201)
  })

  it('a body that is too large and does not say so is refused, and its connection goes on', async () => {
    const { plan, orders } = counting({ options: { maxRequestBytes: 1000 } })
    const { origin } = await serve(form, plan)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const headers = { 'idempotency-key': 'one', 'content-type': 'application/json' }
    const outgoing = request(`${origin}/orders`, { method: 'POST', agent, headers })
    const answered = once(outgoing, 'response')
    const errors: unknown[] = []
    const closed = new Promise((resolve) => outgoing.on('error', (error) => errors.push(error)).on('close', resolve))
    // More than what fits between the two ends. A parser of Express takes 100 kB at most.
    const size = form === 'Express behind a parser' ? 1024 : 128 * 1024
    outgoing.write('["')
    for (let chunk = 0; chunk < 64; chunk++) outgoing.write('x'.repeat(size))
    outgoing.end('"]')
    const [incoming] = (await answered) as [IncomingMessage]
    expect(incoming.statusCode).toBe(413)
    incoming.resume()
    await closed
    expect(errors).toEqual([])
    const next = request(`${origin}/orders`, {
      method: 'POST',
      agent,
      headers: { ...headers, 'idempotency-key': 'two' },
    })
    next.end('[]')
    const [second] = (await once(next, 'response')) as [IncomingMessage]
    expect(second.resume().statusCode).toBe(201)
    agent.destroy()
    expect(orders).toHaveLength(1)
  })

  it('whoever may not ask gets no replay', async () => {
    const allowed = new Set(['alice'])
    const { plan, orders } = counting({
      front: ({ authorization = '' }) => (allowed.has(authorization) ? undefined : 401),
    })
    const { origin } = await serve(form, plan)
    const alice = { key: 'one', body: '{}', headers: { authorization: 'alice' } }
    expect((await call(origin, alice)).status).toBe(201)
    expect((await call(origin, alice)).header('idempotency-replayed')).toBe('true')
    allowed.delete('alice')
    const revoked = await call(origin, alice)
    expect([revoked.status, revoked.body.length, revoked.header('idempotency-replayed')]).toEqual([401, 0, undefined])
    expect(orders).toHaveLength(1)
  })

  it('a 429 in front of the ledger is not kept, nor one of the handler', async () => {
    let busy = true
    let runs = 0
    const { origin } = await serve(form, {
      front: ({ authorization }) => (busy && authorization === 'limited' ? 429 : undefined),
      handler: async () => {
        runs++
        return runs === 1 ? { status: 429, body: 'slow down' } : { status: 201, body: 'done' }
      },
    })
    const request = { key: 'one', body: '{}', headers: { authorization: 'limited' } }
    expect((await call(origin, request)).status).toBe(429)
    busy = false
    expect((await call(origin, request)).body.toString()).toBe('slow down')
    const done = await call(origin, request)
    expect([done.status, done.body.toString(), done.header('idempotency-replayed'), runs]).toEqual([
      201,
      'done',
      undefined,
      2,
    ])
  })

  it('a caller who says that it is a replay is not believed', async () => {
    const { plan, orders } = counting()
    const { origin } = await serve(form, plan)
    const headers = { 'idempotency-replayed': 'true', 'idempotency-retention': '1' }
    const got = await call(origin, { key: 'one', body: '{}', headers })
    expect([got.status, got.header('idempotency-replayed')]).toEqual([201, undefined])
    expect(got.header('idempotency-retention')).toBe('86400')
    expect(orders).toHaveLength(1)
  })

  it('a handler that throws leaves the key free, and no details', async () => {
    let runs = 0
    const { origin, events } = await serve(form, {
      handler: async () => {
        runs++
        if (runs === 1) throw new Error('secret')
        return { status: 201, headers: [['x-run', String(runs)]], body: 'done' }
      },
    })
    const failed = await call(origin, { key: 'one', body: '{}' })
    expect(failed.status).toBe(500)
    // Fastify's own handler tells the message; the others don't.
    if (form !== 'Fastify') expect(failed.body.toString()).not.toContain('secret')
    expect(events.map(({ type }) => type)).toEqual(['entry.claimed', 'entry.released'])
    const done = await call(origin, { key: 'one', body: '{}' })
    expect([done.status, done.header('x-run'), done.header('idempotency-replayed')]).toEqual([201, '2', undefined])
  })

  it('an effect that throws is undone', async () => {
    const orders: string[] = []
    let runs = 0
    const { origin } = await serve(form, {
      handler: async (body, { effect }) => {
        runs++
        await effect((tx) => {
          orders.push(body)
          tx.onRollback(() => orders.pop())
          if (runs === 1) throw new Error('no')
          return json({}, { status: 201 })
        })
        return undefined
      },
    })
    expect((await call(origin, { key: 'one', body: '{}' })).status).toBe(500)
    expect(orders).toEqual([])
    expect((await call(origin, { key: 'one', body: '{}' })).status).toBe(201)
    expect(orders).toEqual(['{}'])
  })

  it('a handler that throws after its effect has answered', async () => {
    const { origin, events } = await serve(form, {
      handler: async (_body, { effect }) => {
        await effect(() => json({ ok: true }, { status: 201 }))
        throw new Error('too late')
      },
    })
    for (const got of [await call(origin, { key: 'one' }), await call(origin, { key: 'one' })]) {
      expect([got.status, got.body.toString()]).toEqual([201, '{"ok":true}'])
    }
    expect(events.map(({ type }) => type)).toEqual([
      'entry.claimed',
      'entry.recorded',
      'handler.failed',
      'entry.replayed',
    ])
  })

  it('an external handler that throws is not run again', async () => {
    let runs = 0
    const { origin } = await serve(form, {
      options: { external: true },
      handler: async () => {
        runs++
        throw new Error('who knows')
      },
    })
    expect((await call(origin, { key: 'one', body: '{}' })).status).toBe(500)
    expect(problem(await call(origin, { key: 'one', body: '{}' }))).toEqual([409, 'outcome-unknown'])
    expect(runs).toBe(1)
  })

  it.each(['whole', 'in pieces'])('a caller who hangs up finds the answer later: %s', async (how) => {
    const held = gate()
    const entered = gate()
    const signals: AbortSignal[] = []
    async function* pieces(): AsyncGenerator<string> {
      yield 'one,'
      entered.open()
      await held.opened
      yield 'two'
    }
    const { origin, events } = await serve(form, {
      front: ({ authorization }) => (authorization === 'nobody' ? 401 : undefined),
      handler: async (_body, { signal }) => {
        signals.push(signal)
        const said = { status: 201, headers: [['content-type', 'text/plain']] } as const
        if (how === 'in pieces') return { ...said, pieces: pieces() }
        entered.open()
        await held.opened
        return { ...said, body: 'one,two' }
      },
    })
    const outgoing = begin(origin, { key: 'one', body: '{"n":1}' })
    outgoing.on('error', () => {}).end('{"n":1}')
    await entered.opened
    outgoing.destroy()
    // The other end has heard of it by the time that it has answered others.
    for (let round = 0; round < 3; round++) await call(origin, { headers: { authorization: 'nobody' } })
    held.open()
    await until(() => events.some(({ type }) => type === 'entry.recorded'))
    const again = await call(origin, { key: 'one', body: '{"n":1}' })
    expect([again.status, again.body.toString(), again.header('idempotency-replayed')]).toEqual([
      201,
      'one,two',
      'true',
    ])
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })
})

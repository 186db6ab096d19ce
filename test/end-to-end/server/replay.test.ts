import { afterEach, describe, expect, it } from 'vitest'
import { json } from '../../../src/server/index.ts'
import { call, type Got, gate } from './caller.ts'
import { FORMS, type Plan, type Said, type Service } from './forms.ts'

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

/** Serves this answer to two requests with one key; tells how often the handler ran. */
async function twice(form: Form, said: Said, method = 'POST'): Promise<{ first: Got; second: Got; runs: number }> {
  let runs = 0
  const { origin } = await serve(form, {
    handler: async () => {
      runs++
      return said
    },
  })
  const first = await call(origin, { method, key: 'one', body: '{"n":1}' })
  const second = await call(origin, { method, key: 'one', body: '{"n":1}' })
  return { first, second, runs }
}

const BINARY = Uint8Array.from({ length: 256 }, (_, index) => index)

const ANSWERS: Record<string, Said> = {
  'JSON that nobody else would write so': {
    status: 201,
    headers: [['content-type', 'application/json']],
    body: '{"b":1, "a":1.0}',
  },
  'a text with a zero': { headers: [['content-type', 'text/plain']], body: 'a\u0000b' },
  bytes: { headers: [['content-type', 'application/octet-stream']], body: BINARY },
  'no content': { status: 204 },
  'an empty body': { status: 202, headers: [['x-empty', 'yes']] },
  pieces: { headers: [['content-type', 'text/plain']], pieces: ['one,', 'two,', 'three'] },
  'a refusal': { status: 402, headers: [['content-type', 'application/json']], body: '{"error":"declined"}' },
  'a redirect': { status: 303, headers: [['location', '/orders/1']] },
}

/** What may differ between an answer and its replay: what belongs to one exchange. */
const OF_THE_EXCHANGE = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'set-cookie']

function lasting({ fields }: Got): string[] {
  return fields
    .filter(([name]) => !OF_THE_EXCHANGE.includes(name) && name !== 'idempotency-replayed')
    .map((field) => field.join(': '))
    .sort()
}

describe.each(Object.keys(FORMS) as Form[])('with %s', (form) => {
  it.each(Object.keys(ANSWERS))('%s comes back byte for byte', async (name) => {
    const said = ANSWERS[name] as Said
    const { first, second, runs } = await twice(form, said)
    expect(runs).toBe(1)
    expect([first.status, second.status]).toEqual([said.status ?? 200, said.status ?? 200])
    const bytes = said.pieces ? 'one,two,three' : (said.body ?? '')
    expect(first.body.equals(Buffer.from(bytes as string))).toBe(true)
    expect(second.body.equals(first.body)).toBe(true)
    expect(lasting(second)).toEqual(lasting(first))
    expect(first.header('idempotency-replayed')).toBeUndefined()
    expect(second.header('idempotency-replayed')).toBe('true')
    expect(second.header('idempotency-retention')).toBe('86400')
  })

  it('cookies stay two the first time, and are not given to anybody again', async () => {
    const { first, second } = await twice(form, {
      status: 201,
      headers: [
        ['set-cookie', 'a=1; Path=/'],
        ['set-cookie', 'b=2, c; Path=/'],
        ['etag', '"v1"'],
        ['location', '/orders/1'],
        ['idempotency-replayed', 'true'],
      ],
      body: 'done',
    })
    const cookies = (got: Got): string[] =>
      got.fields.flatMap(([name, value]) => (name === 'set-cookie' ? [value] : []))
    expect(cookies(first)).toEqual(['a=1; Path=/', 'b=2, c; Path=/'])
    expect(cookies(second)).toEqual([])
    expect([second.header('etag'), second.header('location')]).toEqual(['"v1"', '/orders/1'])
    expect(second.fields.filter(([name]) => name === 'date')).toHaveLength(1)
    expect(first.header('idempotency-replayed')).toBeUndefined()
  })

  it('what is too large to keep is sent, and not done again', async () => {
    const chunk = 'x'.repeat(50_000)
    const { first, second, runs } = await twice(form, {
      headers: [['content-type', 'text/plain']],
      pieces: Array.from({ length: 100 }, () => chunk),
    })
    expect(first.body.length).toBe(5_000_000)
    expect(second.status).toBe(200)
    expect([second.body.length, second.header('idempotency-body')]).toEqual([0, 'omitted'])
    expect(runs).toBe(1)
  })

  it('a whole body that is too large is sent, and not done again', async () => {
    const { first, second, runs } = await twice(form, { body: new Uint8Array(5 * 1024 * 1024) })
    expect(first.body.length).toBe(5 * 1024 * 1024)
    expect([second.body.length, second.header('idempotency-body'), runs]).toEqual([0, 'omitted', 1])
  })

  it('events are sent as they come, and not told again', async () => {
    let runs = 0
    const held = gate()
    async function* events(): AsyncGenerator<string> {
      yield 'data: 1\n\n'
      await held.opened
      yield 'data: 2\n\n'
    }
    const { origin } = await serve(form, {
      handler: async () => {
        runs++
        return { headers: [['content-type', 'text/event-stream']], pieces: events() }
      },
    })
    const response = await fetch(`${origin}/orders`, { method: 'POST', headers: { 'idempotency-key': 'one' } })
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>
    const { value } = await reader.read()
    expect(Buffer.from(value ?? []).toString()).toBe('data: 1\n\n')
    held.open()
    let rest = ''
    for (let next = await reader.read(); !next.done; next = await reader.read())
      rest += Buffer.from(next.value).toString()
    expect(rest).toBe('data: 2\n\n')
    const second = await call(origin, { key: 'one' })
    expect([second.status, second.header('idempotency-replayed'), runs]).toEqual([200, 'true', 1])
  })

  it("an effect's reply is sent where the handler sends nothing", async () => {
    let runs = 0
    const { origin } = await serve(form, {
      handler: async (_body, { effect }) => {
        await effect(() => {
          runs++
          return json({ order: runs }, { status: 201, headers: { location: '/orders/1' } })
        })
        return undefined
      },
    })
    const first = await call(origin, { key: 'one', body: '{}' })
    const second = await call(origin, { key: 'one', body: '{}' })
    for (const got of [first, second]) {
      expect([got.status, got.header('location'), got.body.toString()]).toEqual([201, '/orders/1', '{"order":1}'])
      expect(got.header('content-type')).toBe('application/json')
    }
    expect(runs).toBe(1)
  })

  it("an effect's reply wins over what the handler sends", async () => {
    const { origin } = await serve(form, {
      handler: async (_body, { effect }) => {
        await effect(() => json({ order: 1 }, { status: 201 }))
        return { status: 418, headers: [['x-other', 'yes']], body: 'something else' }
      },
    })
    for (const got of [await call(origin, { key: 'one' }), await call(origin, { key: 'one' })]) {
      expect([got.status, got.header('x-other'), got.body.toString()]).toEqual([201, undefined, '{"order":1}'])
    }
  })

  it.each(['GET', 'HEAD'])('a %s is served each time', async (method) => {
    const { first, second, runs } = await twice(form, { headers: [['x-kind', 'list']], body: 'list' }, method)
    expect([first.status, second.status, runs]).toEqual([200, 200, 2])
    expect(second.body.toString()).toBe(method === 'HEAD' ? '' : 'list')
    expect(second.header('x-kind')).toBe('list')
    expect([second.header('idempotency-replayed'), second.header('idempotency-retention')]).toEqual([
      undefined,
      undefined,
    ])
  })
})

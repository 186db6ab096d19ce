import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type CallContext, type CallOptions, type Client, createClient, memoryJournal } from '../../src/index.ts'
import { elapse, failure, rejection, scenario } from '../support/client-scenario.ts'

/* What the pages under docs/concepts say in a sentence, shown. */

describe('one layer retries', () => {
  const servers: Server[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  async function listen(answer: (headers: NodeJS.Dict<string | string[]>) => Promise<number>): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().on('end', async () => response.writeHead(await answer(request.headers)).end())
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it.each([
    ['the inner ones obey', true, 3],
    ['nobody says so', false, 27],
  ])('of three layers where %s: %s, %i requests at the bottom', async (_, obey, expected) => {
    let atTheBottom = 0
    const bottom = await listen(async () => {
      atTheBottom++
      return 503
    })
    const layerAbove = (url: string): Promise<string> => {
      const client = threeAttempts(url)
      return listen((headers) => statusOf((obey ? client.with(contextOf(headers)) : client).post('/')))
    }
    const middle = await layerAbove(bottom)
    const top = await layerAbove(middle)
    await rejection(threeAttempts(top).post('/'))
    expect(atTheBottom).toBe(expected)
  })

  function threeAttempts(baseUrl: string): Client {
    const retry = { maxAttempts: 3, base: 0, cap: 0 }
    return createClient({ baseUrl, journal: memoryJournal(), retry, budget: false, breaker: false })
  }

  function contextOf(headers: NodeJS.Dict<string | string[]>): CallContext {
    const left = Number(headers['request-timeout-ms'])
    return { doNotRetry: headers['do-not-retry'] === 'true', deadlineAt: Date.now() + left }
  }

  async function statusOf(call: PromiseLike<Response>): Promise<number> {
    await rejection(call)
    return 503
  }
})

describe('an outer layer', () => {
  it('shortens the deadline of what is called inside it, and never lengthens it', async () => {
    const { client, clock, fetch } = scenario([{ hang: true }, { status: 200 }])
    const inner = client.with({ deadlineAt: clock.now() + 2000 })
    const error = await elapse(clock, 2000, failure(inner.post('/a')))
    expect(error).toMatchObject({ reason: 'deadline', effect: 'unknown' })
    expect(fetch.calls[0]?.headers['request-timeout-ms']).toBe('2000')
    await elapse(clock, 10, client.with({ deadlineAt: clock.now() + 3_600_000 }).post('/a'))
    expect(fetch.calls[1]?.headers['request-timeout-ms']).toBe('30000')
  })

  it('that lies further out counts as well', async () => {
    const { client, clock, fetch } = scenario([{ status: 503 }])
    const outer = client.with({ doNotRetry: true })
    await elapse(clock, 1000, rejection(outer.with({ deadlineAt: clock.now() + 5000 }).post('/a')))
    expect(fetch.calls).toHaveLength(1)
  })
})

describe('what stays in the journal', () => {
  const kept: readonly { of: string; status: number; call: CallOptions; left: string[] }[] = [
    { of: 'a success', status: 200, call: {}, left: ['succeeded'] },
    { of: 'a refusal', status: 402, call: {}, left: ['rejected'] },
    { of: 'a failure', status: 503, call: {}, left: ['failed'] },
    { of: 'a success with an id', status: 200, call: { id: 'a' }, left: ['succeeded'] },
    { of: 'a refusal with an id', status: 402, call: { id: 'a' }, left: ['rejected'] },
    { of: 'a success that no handler took', status: 200, call: { name: 'charge' }, left: ['succeeded'] },
  ]

  it.each(kept)('of $of: $left', async ({ status, call, left }) => {
    const { client, clock } = scenario([{ status }], { retry: false })
    await elapse(clock, 10, rejectionOrNot(client.post('/a', call)))
    expect(await statuses(client)).toEqual(left)
  })

  it('goes after a minute where nobody needs it', async () => {
    const { client, clock } = scenario([{ status: 200 }, { status: 402 }])
    await elapse(clock, 10, client.post('/a'))
    await elapse(clock, 10, rejection(client.post('/a')))
    expect(await statuses(client)).toHaveLength(2)
    await clock.advance(70_000)
    expect(await statuses(client)).toEqual([])
  })

  it('goes after the horizon where it was kept for retry only, and after retention otherwise', async () => {
    const { client, clock } = scenario([{ status: 503 }, { status: 503 }, { status: 200, repeat: true }], {
      retry: false,
      dedupWindow: '30h',
    })
    await elapse(clock, 10, rejection(client.post('/a')))
    await elapse(clock, 10, rejection(client.post('/a', { id: 'a' })))
    await clock.advance(10 * 3_600_000)
    await elapse(clock, 10, client.resume())
    expect(await statuses(client)).toEqual(['failed'])
    await clock.advance(20 * 3_600_000)
    await elapse(clock, 10, client.resume())
    expect(await statuses(client)).toEqual([])
  })
})

describe('an explicit resume', () => {
  it('ignores our own delay', async () => {
    const { client, clock } = scenario([{ status: 503 }, { status: 200 }], { retry: false, onGiveUp: 'keep' })
    await elapse(clock, 1, rejection(client.post('/a')))
    expect(await elapse(clock, 1, client.resume())).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it("respects the server's", async () => {
    const { client, clock } = scenario([{ status: 503, headers: { 'retry-after': '60' } }, { status: 200 }], {
      retry: false,
      onGiveUp: 'keep',
    })
    await elapse(clock, 1, rejection(client.post('/a')))
    expect(await elapse(clock, 1, client.resume())).toMatchObject({ claimed: 0 })
    await clock.advance(60_000)
    expect(await elapse(clock, 1, client.resume())).toMatchObject({ claimed: 1, succeeded: 1 })
  })
})

function rejectionOrNot(call: PromiseLike<unknown>): PromiseLike<unknown> {
  return call.then(undefined, () => {})
}

async function statuses(client: Client): Promise<string[]> {
  const found: string[] = []
  for await (const { status } of client.operations()) found.push(status)
  return found
}

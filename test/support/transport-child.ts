/**
 * What only shows in a process of its own: what was set up before the transport is loaded, and whether the process ends.
 * Takes a scenario and an origin, and writes one line of JSON.
 */
import type { TransportOutcome } from '../../src/client/transport/port.ts'
import { transportRequest } from './transport-request.ts'

const [scenario = '', origin = ''] = process.argv.slice(2)
const loadUndici = () => import('undici')
const loadTransport = () => import('../../src/client/transport/undici/undici-transport.ts')
const loadChoice = () => import('../../src/client/transport/undici/choose-node-transport.ts')

type Scenario = () => Promise<unknown>

const scenarios: Record<string, Scenario> = {
  async 'mock agent before'() {
    const { MockAgent, setGlobalDispatcher } = await loadUndici()
    const mock = new MockAgent()
    mock.get(origin).intercept({ path: '/' }).reply(200, 'mocked')
    setGlobalDispatcher(mock)
    return sendBelow()
  },
  async 'agent with options before'() {
    const { Agent, setGlobalDispatcher } = await loadUndici()
    setGlobalDispatcher(new Agent({ connections: 3 }))
    return isRespected()
  },
  async 'agent with interceptors before'() {
    const { Agent, interceptors, setGlobalDispatcher } = await loadUndici()
    setGlobalDispatcher(new Agent().compose(interceptors.retry()))
    return isRespected()
  },
  'nothing before': () => isRespected(),
  async 'fetch used before'() {
    await fetch(origin)
    return isRespected()
  },
  async 'dispatcher of another undici'() {
    await fetch(origin)
    // Node's own copy, which speaks an older dialect.
    const dispatcher = (globalThis as unknown as Record<symbol, never>)[Symbol.for('undici.globalDispatcher.1')]
    const { undiciTransport } = await loadTransport()
    const outcome = await undiciTransport({ dispatcher }).send(
      transportRequest(`${origin}/long`, { bodyLimit: 300_000 }),
    )
    const { text } = await import('node:stream/consumers')
    if (outcome.kind === 'fault' || !outcome.rest) return outcome
    return {
      status: outcome.status,
      headers: outcome.headers,
      size: (await text(outcome.rest as ReadableStream)).length,
    }
  },
  async 'fetch replaced before'() {
    globalThis.fetch = async () => new Response('replaced')
    return sendChosen()
  },
  async 'fetch wrapped in a proxy before'() {
    globalThis.fetch = new Proxy(globalThis.fetch, { apply: async () => new Response('replaced') })
    return sendChosen()
  },
  async 'msw before'() {
    const { http, HttpResponse } = await import('msw')
    const { setupServer } = await import('msw/node')
    const server = setupServer(http.get(`${origin}/`, () => HttpResponse.text('mocked')))
    server.listen({ onUnhandledRequest: 'error' })
    const during = await sendChosen()
    server.close()
    return { during, after: await sendChosen() }
  },
  async close() {
    const { undiciTransport } = await loadTransport()
    const transport = undiciTransport()
    const outcome = await transport.send(transportRequest(origin))
    await transport.close()
    return outcome.kind
  },
  async 'close under a stream'() {
    const { undiciTransport } = await loadTransport()
    const transport = undiciTransport()
    const outcome = await transport.send(transportRequest(`${origin}/long`, { bodyLimit: 10 }))
    await transport.close()
    const { text } = await import('node:stream/consumers')
    return outcome.kind === 'response' && outcome.rest ? (await text(outcome.rest as ReadableStream)).length : outcome
  },
  async 'no close'() {
    const { undiciTransport } = await loadTransport()
    return (await undiciTransport().send(transportRequest(origin))).kind
  },
}

async function isRespected(): Promise<boolean> {
  const { applicationDispatcher } = await loadTransport()
  return applicationDispatcher() !== undefined
}

async function sendBelow(): Promise<unknown> {
  const { undiciTransport } = await loadTransport()
  return body(await undiciTransport().send(transportRequest(`${origin}/`)))
}

async function sendChosen(): Promise<unknown> {
  const { chooseNodeTransport } = await loadChoice()
  return body(await chooseNodeTransport({}).send(transportRequest(`${origin}/`)))
}

function body(outcome: TransportOutcome): unknown {
  return outcome.kind === 'response' ? new TextDecoder().decode(outcome.body ?? undefined) : outcome.code
}

process.stdout.write(`${JSON.stringify(await scenarios[scenario]?.())}\n`)

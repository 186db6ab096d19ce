import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createLedger, memoryLedger } from '../../../src/server/index.ts'
import { nodeHandler } from '../../../src/server/node/index.ts'

/** A server that a probe is pointed at, and how often it did its work. */
export interface ProbedServer {
  readonly url: string
  readonly effects: () => number
  close(): Promise<void>
}

type Handler = (request: IncomingMessage, response: ServerResponse, work: () => object) => unknown

async function listen(handler: Handler, answer: (number: number) => object): Promise<ProbedServer> {
  let effects = 0
  const work = (): object => answer(++effects)
  const server: Server = createServer((request, response) => void handler(request, response, work))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/charges`,
    effects: () => effects,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

async function read(request: IncomingMessage): Promise<{ key: string; body: string }> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return { key: String(request.headers['idempotency-key'] ?? ''), body }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const charge = (id: number): object => ({ id, status: 'created', at: Date.now() })

/** With a ledger of ours in front of the work. */
export function ours(): Promise<ProbedServer> {
  const ledger = createLedger({ store: memoryLedger(), scope: 'public' })
  return listen((request, response, work) => {
    const handle = nodeHandler(ledger, async (_, answer) => {
      await pause(5)
      send(answer, 201, work())
    })
    return handle(request, response)
  }, charge)
}

/** Has never heard of keys. */
export function withoutKeys(answer = charge): Promise<ProbedServer> {
  return listen(async (request, response, work) => {
    await read(request)
    send(response, 201, work())
  }, answer)
}

/** Remembers the newest key only. */
export function forgetful(): Promise<ProbedServer> {
  let newest: { key: string; body: string; answer: Promise<object> } | undefined
  return listen(async (request, response, work) => {
    const { key, body } = await read(request)
    if (newest?.key === key && newest.body !== body) return send(response, 422, { error: 'key reused' })
    if (newest?.key !== key) newest = { key, body, answer: pause(5).then(work) }
    send(response, 201, await newest.answer)
  }, charge)
}

/** Looks at the key alone. */
export function blindToBodies(): Promise<ProbedServer> {
  const known = new Map<string, Promise<object>>()
  return listen(async (request, response, work) => {
    const { key } = await read(request)
    const answer = known.get(key) ?? pause(5).then(work)
    known.set(key, answer)
    send(response, 201, await answer)
  }, charge)
}

/** Looks first, works, and writes the key down afterwards. */
export function racing(): Promise<ProbedServer> {
  const known = new Map<string, { body: string; answer: object }>()
  return listen(async (request, response, work) => {
    const { key, body } = await read(request)
    const found = known.get(key)
    if (found) return found.body === body ? send(response, 201, found.answer) : send(response, 422, {})
    await pause(50)
    const answer = work()
    known.set(key, { body, answer })
    send(response, 201, answer)
  }, charge)
}

/** Writes the answer down only if the client is still there to take it; marks its replays. */
export function forgetsLostAnswers(): Promise<ProbedServer> {
  const known = new Map<string, object>()
  const busy = new Set<string>()
  return listen(async (request, response, work) => {
    const { key } = await read(request)
    const found = known.get(key)
    if (found) return send(response.setHeader('idempotency-replayed', 'true'), 201, found)
    if (busy.has(key)) return send(response, 409, {})
    busy.add(key)
    // Long enough for a client that hangs up at once, also on a machine that is busy.
    await pause(200)
    const answer = work()
    busy.delete(key)
    if (!response.destroyed) known.set(key, answer)
    send(response, 201, answer)
  }, charge)
}

/** Does the work of a key once, and says nothing by which that could be seen. */
export function taciturn(): Promise<ProbedServer> {
  const known = new Set<string>()
  return listen(
    async (request, response, work) => {
      const { key } = await read(request)
      if (!known.has(key)) work()
      known.add(key)
      send(response, 200, { ok: true })
    },
    () => ({}),
  )
}

/** Refuses everything. */
export function closedShop(status: number): Promise<ProbedServer> {
  return listen(async (request, response) => {
    await read(request)
    send(response, status, {})
  }, charge)
}

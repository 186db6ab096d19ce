import { performance } from 'node:perf_hooks'
import { Child } from './child.ts'
import type { ClientsOrder, ClientsReport, WarmUpOrder } from './clients-program.ts'
import type { History } from './history.ts'
import { type Lag, worse } from './lag.ts'
import type { ServerReport } from './server-program.ts'
import type { Trial } from './trials.ts'

export interface SocketHistory extends History {
  /** The longer one of both processes. */
  readonly lag: Lag
  /** What the clients told of: each type of event, and each fault. */
  readonly told: Readonly<Record<string, number>>
}

/** Both processes must know their trial before it begins. */
const LEAD_MS = 500

/** The trial with real clients over sockets: the clients in one process, the server in another. */
export async function socketHistory(trial: Trial, seed: number): Promise<SocketHistory> {
  const [server, clients] = await Promise.all([Child.start('server-program'), Child.start('clients-program')])
  try {
    const { port } = await server.ask<{ port: number }>({ is: 'listen' })
    const baseUrl = `http://127.0.0.1:${port}`
    await clients.ask({ baseUrl } satisfies WarmUpOrder)
    const startAt = performance.timeOrigin + performance.now() + LEAD_MS
    await server.ask({ is: 'begin', trial, seed, startAt })
    const order: ClientsOrder = { trial, seed, startAt, baseUrl }
    const { operations, told, lag } = await clients.ask<ClientsReport>(order)
    const served = await server.ask<ServerReport>({ is: 'report' })
    return { operations, told, requestsAt: served.requestsAt, lag: worse(lag, served.lag) }
  } finally {
    await Promise.all([server.end(), clients.end()])
  }
}

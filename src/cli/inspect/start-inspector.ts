import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '../../client/client.ts'
import { HoldfastClient } from '../../client/holdfast-client.ts'
import { checkBoolean, checkNameList, refuseOption, wholeFrom } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import { systemClock } from '../../foundation/clock.ts'
import { randomBytes } from '../../foundation/random.ts'
import type { InspectedLedger } from './entry-views.ts'
import { type Inspected, routesOf } from './routes.ts'
import { serve } from './serve.ts'
import { secretNames } from './shown-body.ts'

export type { InspectedLedger }

export interface InspectorOptions {
  /** Its operations and origins are shown; it cancels, retries and resumes. Made by `createClient` of this package. */
  readonly client?: Client | undefined
  /** Its entries are shown, and resolved where they are `unknown`. */
  readonly ledger?: InspectedLedger | undefined
  /** Default: any that is free. */
  readonly port?: number | undefined
  /** What the page has to bring along: at least 32 characters of `A-Z a-z 0-9 - _`. Default: 256 random bits. */
  readonly token?: string | undefined
  /** Nothing can be changed from the page. Default `false`. */
  readonly readOnly?: boolean | undefined
  /**
   * Names of fields in JSON and forms whose values are not shown, beside those of credentials and card numbers.
   *
   * @example redact: ['email', 'dateOfBirth']
   */
  readonly redact?: readonly string[] | undefined
}

/** A page on this machine that shows what a client and a ledger are doing. */
export interface Inspector {
  /** With the token in its fragment, which no browser sends anywhere. */
  readonly url: string
  /** Ends the page's server. The client and the ledger stay as they are. */
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const TOKEN_BYTES = 32

/**
 * Serves the inspector on the loopback address.
 *
 * ```ts
 * const inspector = await startInspector({ client })
 * console.log(inspector.url)
 * ```
 */
export async function startInspector(options: InspectorOptions): Promise<Inspector> {
  const { client, ledger, port, token, readOnly, redact } = readInspectorOptions(options)
  const inspected: Inspected = { client: partsOf(client), ledger, readOnly, isSecret: secretNames(redact) }
  if (!inspected.client && !ledger) throw new ConfigurationError('startInspector needs a `client`, a `ledger` or both.')
  const routes = routesOf(inspected)
  const clock = inspected.client?.engine.clock ?? systemClock
  const server = createServer((request, response) => {
    const terms = { port: portOf(server), token, readOnly }
    serve(request, response, { terms, routes, now: () => clock.now() }).catch(() => response.destroy())
  })
  server.listen(port, HOST)
  await once(server, 'listening')
  return { url: `http://${HOST}:${portOf(server)}/#token=${token}`, close: () => closeServer(server) }
}

function readInspectorOptions(options: InspectorOptions) {
  return readOptions('inspector', options, {
    client: [undefined, (_: string, client: Client) => client],
    ledger: [undefined, (_: string, ledger: InspectedLedger) => ledger],
    port: [0, wholeFrom(0)],
    token: [Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url'), checkToken],
    readOnly: [false, checkBoolean],
    redact: [[], checkNameList],
  })
}

function checkToken(option: string, token: unknown): string {
  if (typeof token === 'string' && /^[\w-]{32,}$/.test(token)) return token
  return refuseOption(option, 'at least 32 characters of A-Z a-z 0-9 - _', undefined)
}

function partsOf(client: Client | undefined): Inspected['client'] {
  if (!client) return undefined
  const core = HoldfastClient.coreOf(client)
  if (core) return { surface: client, engine: core.engine }
  throw new ConfigurationError('startInspector shows a client that was made by createClient of the same package.')
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

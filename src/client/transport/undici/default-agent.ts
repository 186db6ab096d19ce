import type { Agent } from 'undici'
import type { Undici } from './undici-module.ts'

/** Tuned for many small calls to few origins. */
export function createDefaultAgent(undici: Undici): Agent {
  return new undici.Agent({
    // Enough for a busy service, few enough to be kind to a server that comes back after an outage.
    connections: 256,
    // One request at a time on a connection: a broken one takes nobody else's request with it.
    pipelining: 1,
    // Below what servers commonly allow, so that the idle connection is closed by us rather than under a request.
    keepAliveTimeout: 4_000,
    // The attempt's own timeout covers head and body.
    headersTimeout: 0,
    bodyTimeout: 0,
    // A connection that nobody waits for any more must not hang on for the minutes that the system gives it.
    connect: { timeout: 10_000 },
    allowH2: false,
  })
}

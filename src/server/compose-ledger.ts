import { checkFunction, oneOf } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import { ConfigurationError } from '../errors/classes.ts'
import { eraseScope } from './erase-scope.ts'
import { begin, guarded, type MakeGuard } from './guard/begin.ts'
import type { KeyFrom } from './guard/guard-options.ts'
import { resolveEntry } from './guard/reconcile.ts'
import { serveAtomic } from './guard/serve-atomic.ts'
import { type AtomicHandler, atomicFetch } from './http/atomic-handler.ts'
import { protectFetch } from './http/fetch-handler.ts'
import type { Ledger, LedgerOptions, Reaper } from './ledger.ts'
import { readMetrics } from './metrics.ts'
import { once } from './once.ts'
import { reap, startReaper } from './reaper.ts'
import { resolveEntriesQuery } from './resolve-entries-query.ts'
import { resolveLedgerOptions, resolveProtection, type ServerPlatform, withIsFinal } from './resolve-ledger-options.ts'

const NOT_EXTERNAL =
  'atomic() is for handlers that do everything inside of the transaction, and this ledger is for `external` ones: use protect()'

const ATOMIC = {
  isolation: [undefined, oneOf('read committed', 'repeatable read', 'serializable')],
  keyFrom: [undefined, checkFunction<KeyFrom<unknown> | undefined>],
} as const

/** A ledger on a platform with its own SHA-256; `createLedger` uses Node's. */
export function composeLedger<Tx, Returned, Native>(
  platform: ServerPlatform,
  options: LedgerOptions<Tx, Returned, Native>,
): Ledger<Tx, Returned, Native> {
  const guard = resolveLedgerOptions(options as unknown as LedgerOptions<unknown, unknown, unknown>, platform)
  const { store, maxRequestBytes, maxResponseBytes } = guard
  const reapers = new Set<Reaper>()
  const limits = { maxRequestBytes, maxResponseBytes }
  const makeGuard: MakeGuard = (given, own) => {
    const protection = resolveProtection(options, given, own)
    const served = withIsFinal(guard, given?.isFinal)
    return { ...limits, begin: (inbound) => begin(served, inbound, protection) }
  }
  const ledger: Ledger = {
    ...guarded(makeGuard),
    protect: (handler, given) => protectFetch(makeGuard(given), handler),
    atomic: (handler, given) => {
      if (options.external) throw new ConfigurationError(NOT_EXTERNAL)
      const { isolation, keyFrom = guard.keyFrom } = readOptions('atomic', given ?? {}, ATOMIC)
      const serve: Parameters<typeof atomicFetch>[0] = (inbound, run) =>
        serveAtomic(guard, inbound, { run, options: { isolation }, keyFrom })
      return atomicFetch(serve, maxRequestBytes, handler as AtomicHandler)
    },
    once: (id, work, given) => once(guard, { id, work }, given),
    reap: (given) => reap(guard, given),
    startReaper: (given) => {
      const reaper = startReaper(guard, given)
      reapers.add(reaper)
      return reaper
    },
    find: (scope, key) => store.find(scope, key),
    entries: (query) => store.entries(resolveEntriesQuery(query)),
    stats: () => store.stats(guard.clock.now()),
    metrics: () => readMetrics(guard),
    erase: (scope, given) => eraseScope(guard, scope, given),
    resolve: (scope, key, outcome) => resolveEntry(guard, { scope, key }, outcome),
    close: async () => {
      detach?.()
      await Promise.all([guard.background.close(), ...[...reapers].map((reaper) => reaper.stop())])
      await store.close()
    },
  }
  const detach = options.telemetry?.attachLedger(ledger)
  // The guard never reads transactions or native requests: only the user's functions do, which have these types.
  return ledger as unknown as Ledger<Tx, Returned, Native>
}

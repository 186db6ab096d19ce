import { begin } from './guard/begin.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { ProtectOptions } from './guard/protect-options.ts'
import { protectFetch } from './http/fetch/protect-fetch.ts'
import type { Inbound } from './http/port.ts'
import type { Ledger, Reaper } from './ledger.ts'
import { listEntries } from './list-entries.ts'
import { once } from './once.ts'
import type { LedgerOptions } from './options.ts'
import { reap, startReaper } from './reaper.ts'
import { resolveEntry } from './resolve-entry.ts'
import { resolveLedgerOptions, resolveProtection } from './resolve-ledger-options.ts'

/** A ledger on a platform that brings its own SHA-256; `createLedger` brings Node's. */
export function composeLedger<Tx, Returned, Native>(
  platform: Pick<GuardOptions, 'digest'>,
  options: LedgerOptions<Tx, Returned, Native>,
): Ledger<Tx, Returned, Native> {
  const guard = resolveLedgerOptions(options as unknown as LedgerOptions<unknown, unknown, unknown>, platform.digest)
  const { store, maxRequestBytes, maxResponseBytes } = guard
  const reapers = new Set<Reaper>()
  const beginWith = (inbound: Inbound, given?: ProtectOptions): ReturnType<typeof begin> =>
    begin(guard, inbound, resolveProtection(options, given))
  const ledger: Ledger = {
    limits: { maxRequestBytes, maxResponseBytes },
    begin: beginWith,
    protect: (handler, given) => {
      const protection = resolveProtection(options, given)
      const begun = (inbound: Inbound): ReturnType<typeof begin> => begin(guard, inbound, protection)
      return protectFetch({ begin: begun, maxRequestBytes, maxResponseBytes }, handler)
    },
    once: (id, work, given) => once(guard, { id, work }, given),
    reap: (given) => reap(guard, given),
    startReaper: (given) => {
      const reaper = startReaper(guard, given)
      reapers.add(reaper)
      return reaper
    },
    find: (scope, key) => store.find(scope, key),
    entries: (query) => listEntries(guard, query),
    stats: () => store.stats(guard.clock.now()),
    resolve: (scope, key, outcome) => resolveEntry(guard, { scope, key }, outcome),
    close: async () => {
      await Promise.all([guard.background.close(), ...[...reapers].map((reaper) => reaper.stop())])
      await store.close()
    },
  }
  // The guard does not look at transactions or requests; only the user's functions do, and those were typed by them.
  return ledger as unknown as Ledger<Tx, Returned, Native>
}

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts'
import { onMachine } from '../support/other-machine.ts'
import type { RunningPostgres } from '../support/postgres-setup.ts'
import { type Silence, SilentProxy } from '../support/silent-proxy.ts'
import { type JournalPlace, type PlaceStrike, shortFreezeMs } from './journal-place.ts'

export const LEASE_MS = 30_000

/** Of the connections of hunted processes. */
const NAME = 'hunted'
/** What a batch that accepts an operation has in it. */
const BATCH = '"do":"append"'

export interface FleetTerms {
  readonly processes: number
  /**
   * `each its own`: a dead process is noticed by its lease alone. `one`: by its process id, and no blow lasts for as long as
   * a lease.
   */
  readonly hosts: 'one' | 'each its own'
}

/** One journal in Postgres for all processes, each of which reaches it through proxies of its own. */
export async function postgresPlace(
  postgres: RunningPostgres,
  { processes, hosts }: FleetTerms,
): Promise<JournalPlace & { stop(): Promise<void> }> {
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 }).on('error', () => {})
  const cutters = await Promise.all(Array.from({ length: processes }, () => cuttingProxy(postgres.url)))
  const proxies = cutters.map(({ url }) => new SilentProxy(new URL(url)))
  const ports = await Promise.all(proxies.map((proxy) => proxy.start()))
  const silenced = new Set<number>()
  let started = 0
  const silence = async (slot: number, terms: Silence): Promise<boolean> => {
    const proxy = proxies[slot]
    // The end of one silence would end the other too.
    if (!proxy || silenced.has(slot)) return false
    silenced.add(slot)
    const { hit, over } = proxy.silence(terms)
    void over.then(() => silenced.delete(slot))
    return hit
  }
  return {
    addressOf: (slot) => ({
      kind: 'postgres',
      url: named(postgres.url, slot === undefined ? undefined : ports[slot]),
    }),
    nodeOptions: () => (hosts === 'one' ? [] : onMachine({ hostname: `host-${++started}`, skew: 0 })),
    strikes: {
      'connection cut': cut(cutters),
      'connection silent': silent(silence),
      'cut off for a lease': hosts === 'one' ? { never: 'the hunt is shorter than a lease' } : cutOff(silence),
      'backend terminated': terminate(pool),
      'Postgres restart': () => postgres.restart().then(() => true),
    },
    restartsAt: [0.25, 0.5, 0.75],
    freezeMs: (random) => (hosts === 'one' || random() < 0.85 ? shortFreezeMs(random) : 1.2 * LEASE_MS),
    stop: async () => {
      for (const proxy of proxies) proxy.stop()
      for (const cutter of cutters) await cutter.close()
      await pool.end()
    },
  }
}

function named(url: string, port: number | undefined): string {
  const through = new URL(url)
  if (port !== undefined) through.host = `127.0.0.1:${port}`
  through.searchParams.set('application_name', NAME)
  return through.href
}

type DealSilence = (slot: number, terms: Silence) => Promise<boolean>

const LONGEST_AIM_MS = 1000

/** At the next batch: it never arrives, or it is committed and its answer is lost. */
function cut(cutters: readonly CuttingProxy[]): PlaceStrike {
  return async (random, slot) => {
    const cutter = cutters[slot]
    if (!cutter) return false
    const before = cutter.cuts
    cutter.cutStatement(BATCH, random() < 0.3 ? 'before' : 'after')
    for (let waitedMs = 0; cutter.cuts === before && waitedMs < LONGEST_AIM_MS; waitedMs += 10) await pause(10)
    return cutter.cuts > before
  }
}

function silent(silence: DealSilence): PlaceStrike {
  return (random, slot) => {
    const end = random() < 0.5 ? 'broken' : 'resumed'
    return silence(slot, { ms: 500 + 3500 * random(), of: random() < 0.5 ? 'one' : 'all', end })
  }
}

/** Its leases lapse while it is alive, and others take its work over. */
function cutOff(silence: DealSilence): PlaceStrike {
  return (random, slot) => silence(slot, { ms: LEASE_MS * (1.1 + 0.2 * random()), of: 'all', end: 'broken' })
}

/** A connection that is in the middle of a statement, where there is one. */
function terminate(pool: pg.Pool): PlaceStrike {
  const text = `SELECT pg_terminate_backend(pid) AS hit FROM pg_stat_activity WHERE application_name = $1
    ORDER BY state = 'active' DESC, random() LIMIT 1`
  return async () => {
    const { rows } = await pool.query<{ hit: boolean }>(text, [NAME])
    return rows[0]?.hit ?? false
  }
}

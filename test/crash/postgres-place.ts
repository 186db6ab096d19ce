import pg from 'pg'
import { onMachine } from '../support/other-machine.ts'
import type { RunningPostgres } from '../support/postgres-setup.ts'
import { type Silence, SilentProxy } from '../support/silent-proxy.ts'
import { type JournalPlace, type PlaceStrike, shortFreezeMs } from './journal-place.ts'

export const LEASE_MS = 30_000

/** Of the connections of hunted processes. */
const NAME = 'hunted'

export interface FleetTerms {
  readonly processes: number
  /**
   * `each its own`: a dead process is noticed by its lease alone. `one`: by its process id, and no blow lasts for as long as
   * a lease.
   */
  readonly hosts: 'one' | 'each its own'
}

/** One journal in Postgres for all processes, each of which reaches it through a proxy of its own. */
export async function postgresPlace(
  postgres: RunningPostgres,
  { processes, hosts }: FleetTerms,
): Promise<JournalPlace & { stop(): Promise<void> }> {
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 }).on('error', () => {})
  const proxies = Array.from({ length: processes }, () => new SilentProxy(new URL(postgres.url)))
  const ports = await Promise.all(proxies.map((proxy) => proxy.start()))
  const silent = new Set<number>()
  let started = 0
  const silence = async (slot: number, terms: Silence): Promise<boolean> => {
    const proxy = proxies[slot]
    // The end of one silence would end the other too.
    if (!proxy || silent.has(slot)) return false
    silent.add(slot)
    const { hit, over } = proxy.silence(terms)
    void over.then(() => silent.delete(slot))
    return hit
  }
  return {
    addressOf: (slot) => ({
      kind: 'postgres',
      url: named(postgres.url, slot === undefined ? undefined : ports[slot]),
    }),
    nodeOptions: () => (hosts === 'one' ? [] : onMachine({ hostname: `host-${++started}`, skew: 0 })),
    strikes: {
      ...cuts(silence),
      'cut off for a lease': hosts === 'one' ? { never: 'the hunt is shorter than a lease' } : cutOff(silence),
      'backend terminated': terminate(pool),
      'Postgres restart': () => postgres.restart().then(() => true),
    },
    restartsAt: [0.25, 0.5, 0.75],
    freezeMs: (random) => (hosts === 'one' || random() < 0.85 ? shortFreezeMs(random) : 1.2 * LEASE_MS),
    stop: async () => {
      for (const proxy of proxies) proxy.stop()
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

function cuts(silence: DealSilence) {
  const either = (random: () => number): Silence['of'] => (random() < 0.5 ? 'one' : 'all')
  /** What is on its way is lost: a statement that never arrived, or the answer to one that was committed. */
  const cut: PlaceStrike = (random, slot) => silence(slot, { ms: 300 * random(), of: either(random), end: 'broken' })
  const silent: PlaceStrike = (random, slot) => {
    const end = random() < 0.5 ? 'broken' : 'resumed'
    return silence(slot, { ms: 500 + 3500 * random(), of: either(random), end })
  }
  return { 'connection cut': cut, 'connection silent': silent }
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

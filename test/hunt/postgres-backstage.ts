import pg from 'pg'
import { postgresLedger } from '../../src/server/ledger/postgres/postgres-ledger.ts'
import type { TableDisk } from '../support/postgres-setup.ts'
import { SilentProxy } from '../support/silent-proxy.ts'
import type { Backstage, OrderRow, StoreBlow, Strike } from './backstage.ts'
import { pause } from './pause.ts'
import { CONNECTIONS, LEASE_MS, REPLICAS } from './shop-store.ts'

export interface PostgresPlace {
  readonly url: string
  /** The way of the shops to it, where that is another one. */
  readonly shopUrl?: string | undefined
  /** Left out where the Postgres is not ours. */
  readonly own?: OwnPostgres | undefined
}

export interface OwnPostgres {
  restart(): Promise<void>
  kill(): Promise<void>
  readonly disk: TableDisk | { readonly never: string }
}

const NOT_OURS = { never: 'the Postgres at PG_URL is not ours to break' }

/** In a schema of its own. */
export async function postgresBackstage(place: PostgresPlace, schema: string): Promise<Backstage> {
  const { url, shopUrl = url } = place
  const options = await tableOptions(place, schema)
  const pool = new pg.Pool({ connectionString: url, max: 2, options }).on('error', () => {})
  const store = postgresLedger({ pool, schema })
  await pool.query(
    `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders
       (number integer NOT NULL, nonce text NOT NULL, key text NOT NULL, at double precision NOT NULL)`,
  )
  await store.stats(Date.now())
  const wires = await openWires(shopUrl)
  return {
    addressOf: (replica) => ({ kind: 'postgres', url: wires.urlOf(replica), schema }),
    blows: {
      ...blowsAt(place),
      ...blowsAmong(pool, `${CONNECTIONS}-${schema}`),
      ...wires.blows,
      'pool exhausted': async (random, { say }) => {
        say(`exhaust ${LEASE_MS * (1.5 + random() * 2)}`)
        return false
      },
    },
    healed: wires.healed,
    rows: async () => (await pool.query<OrderRow>(`SELECT number, nonce, key, at FROM ${schema}.orders`)).rows,
    find: (key) => store.find('public', key),
    unfinished: async () => {
      const { running, unknown } = await store.stats(Date.now())
      return running + unknown
    },
    close: async () => {
      wires.stop()
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.end()
    },
  }
}

/** For connections that create tables: on the disk that can be full, where there is one. */
async function tableOptions(place: PostgresPlace, name: string): Promise<string | undefined> {
  const disk = diskOf(place)
  if (!disk) return undefined
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  await client.query(`CREATE TABLESPACE ${name} LOCATION '${disk.folder}'`)
  await client.end()
  return `-c default_tablespace=${name}`
}

function diskOf({ own }: PostgresPlace): TableDisk | undefined {
  return own && 'folder' in own.disk ? own.disk : undefined
}

/** Blows at the server as a whole. */
function blowsAt(place: PostgresPlace) {
  const { own } = place
  const disk = diskOf(place)
  const fill: Strike = async (random) => {
    if (!disk) return false
    await disk.fill()
    await pause(300 + random() * 900)
    await disk.empty()
    return false
  }
  return {
    'store locked': { never: 'Postgres has no one lock that keeps everybody from writing' },
    'disk full': disk ? fill : own ? (own.disk as { readonly never: string }) : NOT_OURS,
    'Postgres restart': own ? () => own.restart().then(() => true) : NOT_OURS,
    'Postgres kill': own ? () => own.kill().then(() => true) : NOT_OURS,
  } satisfies Partial<Record<StoreBlow, unknown>>
}

/** Blows at one of the connections of this name. */
function blowsAmong(pool: pg.Pool, name: string) {
  const text = `SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY state LIKE 'idle in%' DESC, state, pid`
  const terminate: Strike = async (random) => {
    const { rows } = await pool.query<{ pid: number }>(text, [name])
    // Those inside a transaction come first, and are the more likely victims.
    const victim = rows[Math.floor(random() ** 3 * rows.length)]
    if (!victim) return false
    const answer = await pool.query<{ hit: boolean }>('SELECT pg_terminate_backend($1) AS hit', [victim.pid])
    return answer.rows[0]?.hit ?? false
  }
  return { 'backend terminated': terminate }
}

/** A proxy that can fall silent for each replica. */
async function openWires(url: string) {
  const proxies = REPLICAS.map(() => new SilentProxy(new URL(url)))
  const ports = await Promise.all(proxies.map((proxy) => proxy.start()))
  const silences = new Set<Promise<void>>()
  const strike = async (of: 'one' | 'all', random: () => number, index: number): Promise<boolean> => {
    const ms = LEASE_MS * (1.5 + random() * 3)
    const silenced = proxies[index]?.silence({ ms, of, end: random() < 0.5 ? 'broken' : 'resumed' })
    if (!silenced) return false
    const over: Promise<void> = silenced.over.finally(() => silences.delete(over))
    silences.add(over)
    return silenced.hit
  }
  return {
    urlOf: (replica: number): string => {
      const through = new URL(url)
      through.host = `127.0.0.1:${ports[replica]}`
      return through.href
    },
    blows: {
      'half-open connection': (random, { index }) => strike('one', random, index),
      'replica cut off': (random, { index }) => strike('all', random, index),
    } satisfies Partial<Record<StoreBlow, Strike>>,
    healed: async () => void (await Promise.all(silences)),
    stop: () => {
      for (const proxy of proxies) proxy.stop()
    },
  }
}

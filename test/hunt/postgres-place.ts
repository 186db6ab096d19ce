import { startPgBouncer } from '../support/pgbouncer.ts'
import { startPostgresWithDisk } from '../support/postgres-setup.ts'
import type { PostgresPlace } from './postgres-backstage.ts'

export type OpenedPlace = PostgresPlace & { stop(): Promise<void> }

/** The Postgres at PG_URL; else one of our own, since it is broken under all that use it. */
export async function openPostgresPlace(): Promise<OpenedPlace> {
  const { PG_URL: given } = process.env
  if (given) return { url: given, stop: async () => {} }
  const own = await startPostgresWithDisk()
  return { url: own.url, own, stop: () => own.stop() }
}

/** The shops reach it through PgBouncer in transaction mode. */
export async function openPgBouncerPlace(): Promise<OpenedPlace> {
  const place = await openPostgresPlace()
  const bouncer = await startPgBouncer({ url: place.url })
  const stop = async () => {
    await bouncer.stop()
    await place.stop()
  }
  return { ...place, shopUrl: bouncer.url, stop }
}

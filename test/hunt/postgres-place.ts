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

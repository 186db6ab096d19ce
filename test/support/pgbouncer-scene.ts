import { afterAll, beforeAll } from 'vitest'
import { startPgBouncer } from './pgbouncer.ts'
import { type PostgresScene, postgresScene } from './postgres.ts'

/** A scene whose pools reach Postgres through PgBouncer in transaction mode. To be called at the top of a file. */
export function pgBouncerScene(): PostgresScene {
  const scene = postgresScene()
  let url = ''
  let stop = async (): Promise<void> => {}
  beforeAll(async () => {
    const connectQuery = `SET search_path TO ${scene.schema}`
    ;({ url, stop } = await startPgBouncer({ url: scene.url, connectQuery }))
  }, 600_000)
  afterAll(() => stop())
  return {
    ...scene,
    get url() {
      return url
    },
    // PgBouncer refuses the setting `options`.
    pool: (more) => scene.pool({ connectionString: url, options: undefined, ...more }),
  }
}

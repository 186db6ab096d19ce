import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresPlace, postgresBackstage } from './postgres-backstage.ts'
import { type OpenedPlace, openPostgresPlace } from './postgres-place.ts'
import { shortHunt } from './short-hunt.ts'

/** The client's journal is in SQLite, the server's ledger in Postgres. */
let postgres: OpenedPlace

beforeAll(async () => {
  postgres = await openPostgresPlace()
})
afterAll(() => postgres.stop())

it('does each operation once, answers it alike and tells the truth, while both halves, the network and Postgres break', async () => {
  const open = () => postgresBackstage(postgres, `holdfast_hunt_${process.pid}`)
  const result = await shortHunt('test/hunt/hunt.postgres.test.ts', open)
  expect(result.accepted).toBeGreaterThanOrEqual(60)
  expect(result.claims).toMatchObject({ 'caller: answered, applied': expect.any(Number) })
  expect(Object.keys(result.notDealt)).toEqual(['store locked', ...impossibleAt(postgres)])
}, 180_000)

/** What can't be done to a Postgres that is not ours, or on a machine where no disk can be mounted. */
function impossibleAt({ own }: PostgresPlace): string[] {
  if (!own) return ['disk full', 'Postgres restart', 'Postgres kill']
  return 'never' in own.disk ? ['disk full'] : []
}

/**
 * The hunt at any length, through both halves:
 *
 *   npm run hunt -- --seconds 300 --operations 500 --store postgres --seed 7
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endAll } from '../support/child-process.ts'
import { startPostgres } from '../support/postgres-setup.ts'
import { postgresBackstage, sqliteBackstage } from './backstage.ts'
import { hunt } from './hunt.ts'
import { isClean } from './is-clean.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    operations: { type: 'string', default: '100' },
    store: { type: 'string', default: 'postgres' },
    seed: { type: 'string', default: String(process.pid) },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'holdfast-hunt-'))
process.stdout.write(`seed ${values.seed}, ledger in ${values.store}\n`)
const postgres = values.store === 'postgres' ? await postgresAt(process.env.PG_URL) : undefined
try {
  const backstage = postgres
    ? await postgresBackstage(postgres.url, `holdfast_hunt_${process.pid}`)
    : await sqliteBackstage(folder)
  const result = await hunt({
    folder,
    backstage,
    seed: Number(values.seed),
    seconds: Number(values.seconds),
    operations: Number(values.operations),
    onProgress: (line) => process.stdout.write(`${line}\n`),
  })
  await backstage.close()
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  process.stdout.write(isClean(result) ? '0 lost, 0 doubled, every answer the recorded one\n' : 'NOT CLEAN\n')
  process.exitCode = isClean(result) ? 0 : 1
} finally {
  await endAll()
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

async function postgresAt(url: string | undefined) {
  return url ? { url, stop: async () => {} } : startPostgres()
}

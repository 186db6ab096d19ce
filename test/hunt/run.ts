/**
 * The hunt at any length, through both halves; several rounds, each with the next seed, several of them at once:
 *
 *   npm run hunt -- --seconds 300 --operations 500 --store postgres --seed 7
 *   npm run hunt -- --seconds 60 --rounds 20 --workers 2 --state hunt.json
 *
 * `--store` is postgres, pgbouncer (Postgres, reached through PgBouncer in transaction mode) or sqlite.
 * With a state file the same command goes on where an interrupted one was.
 */
import { runHuntCommand } from '../support/hunt-command.ts'

await runHuntCommand({
  script: 'hunt',
  program: new URL('./round.ts', import.meta.url),
  options: { seconds: '60', operations: '100', store: 'postgres' },
  choices: { store: 'postgres|pgbouncer|sqlite' },
  clean: '0 lost, 0 doubled, every answer the recorded one, every claim true',
})
process.exit()

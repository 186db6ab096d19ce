/**
 * The hunt for a fleet: processes that take themselves for ones on different machines, with one journal in Postgres, which
 * is restarted three times and reached over connections that break.
 *
 *   npm run torture:fleet -- --operations 10000 --processes 4 --seed 7
 */
import { runHuntCommand } from '../support/hunt-command.ts'

await runHuntCommand({
  script: 'torture:fleet',
  program: new URL('./fleet-round.ts', import.meta.url),
  options: { operations: '2000', processes: '4', 'kill-every': '150' },
  clean: '0 lost, 0 doubled, bytes identical, every claim true',
})
process.exit()

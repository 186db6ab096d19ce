/**
 * The hunt at any size; several rounds, each with the next seed, several of them at once:
 *
 *   npm run torture -- --minutes 5 --operations 500 --processes 4 --seed 7
 *   npm run torture -- --rounds 20 --workers 2 --state torture.json
 *
 * With a state file the same command goes on where an interrupted one was.
 */
import { runHuntCommand } from '../support/hunt-command.ts'

await runHuntCommand({
  script: 'torture',
  program: new URL('./round.ts', import.meta.url),
  options: { minutes: '0', operations: '500', processes: '4', 'kill-every': '8' },
  clean: '0 lost, 0 doubled, bytes identical, every claim true',
})
process.exit()

/**
 * The hunt at any size:
 *
 *   npm run torture -- --minutes 5 --operations 500 --processes 4 --seed 7
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endAll } from '../support/child-process.ts'
import { hunt } from './hunt.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '0' },
    operations: { type: 'string', default: '500' },
    processes: { type: 'string', default: '4' },
    'kill-every': { type: 'string', default: '8' },
    seed: { type: 'string', default: String(process.pid) },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'holdfast-torture-'))
const tell = (line: string): boolean =>
  process.stdout.isTTY ? process.stdout.write(`\r\x1b[K${line}`) : process.stdout.write(`${line}\n`)

process.stdout.write(`seed ${values.seed}\n`)
try {
  const result = await hunt({
    folder,
    operations: Number(values.operations),
    processes: Number(values.processes),
    minutes: Number(values.minutes),
    seed: Number(values.seed),
    killEvery: Number(values['kill-every']),
    onProgress: tell,
  })
  process.stdout.write(`\n${JSON.stringify(result, null, 2)}\n`)
  const { lost, doubled, changed, untold, failed, falseClaims } = result
  const isClean = lost + doubled + changed + untold + failed + falseClaims === 0
  process.stdout.write(isClean ? '0 lost, 0 doubled, bytes identical, every claim true\n' : 'NOT CLEAN\n')
  process.exitCode = isClean ? 0 : 1
} finally {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
}

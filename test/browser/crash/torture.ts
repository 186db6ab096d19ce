/**
 * The kills at any number, half of them of whole browsers and half of single tabs:
 *
 *   npm run torture:browser -- --kills 100 --seed 1
 *
 * The browser, its pages and the build belong to the tests, so it is the tests that are run.
 */
import { parseArgs } from 'node:util'
import { startVitest } from 'vitest/node'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(process.pid) },
  },
})

process.env.TORTURE_KILLS = values.kills
process.env.TORTURE_SEED = values.seed
process.stdout.write(`npm run torture:browser -- --kills ${values.kills} --seed ${values.seed}\n`)
const vitest = await startVitest('test', ['test/browser/crash/kill-matrix'], { project: 'browser', watch: false })
await vitest.close()

import { simulate } from '../../src/testing/simulation/simulate.ts'
import type { Assignment } from './workforce.ts'

// Thousands of errors are made and none is looked at here.
Error.stackTraceLimit = 0

// One process of a run: takes a block of seeds at a time and tells what came of it.
process.on('message', ({ seed, histories, without }: Assignment) => {
  simulate({ seed, histories, without, stopAfter: 3 }).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))

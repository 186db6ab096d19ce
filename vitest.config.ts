import { defineConfig } from 'vitest/config'
import { inlineSourceForVite } from './test/bundling/inline-source.ts'
import { LongFirst } from './test/support/long-first.ts'
import { SummaryReporter } from './test/support/summary-reporter.ts'
import { testsThatNeedSqlite } from './test/support/tests-without-sqlite.ts'

/**
 * Most of the slower tests wait for a process, a socket or a browser: twice as many files at a time as a small machine has
 * cores. One that fails is run once more, since on such a machine any of them may come too late; the summary names it.
 */
const slowly = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  retry: 1,
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
  expect: { requireAssertions: true, poll: { timeout: 20_000 } },
}

/** What starts processes, opens sockets or builds packages. */
const heavy = [
  'test/architecture/**',
  'test/bench/**',
  'test/crash/**',
  'test/documentation/**',
  'test/end-to-end/**',
  'test/examples/**',
  'test/fetch-parity/**',
  'test/hunt/**',
  'test/newcomer/**',
  'test/runtimes/**',
  'test/sdks/**',
  'test/simulation/**',
  'test/storm/sockets/**',
]

const browser = 'test/browser/**/*.browser.test.ts'

const postgres = 'test/**/*.postgres.test.ts'

const leftOut = [...testsThatNeedSqlite(), '**/node_modules/**']

export default defineConfig({
  plugins: [inlineSourceForVite()],
  test: {
    pool: 'forks',
    // A test that expects nothing cannot fail.
    expect: { requireAssertions: true },
    reporters: ['default', new SummaryReporter()],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...heavy, browser, postgres, ...leftOut],
          testTimeout: 60_000,
          // Most of their time would go into loading the same modules: one file after the other in the same processes.
          isolate: false,
          // By itself vitest leaves one core idle; a few wait for a lock or the disk.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'heavy',
          include: heavy.map((folder) => `${folder}/*.test.ts`),
          exclude: [postgres, ...leftOut],
          ...slowly,
        },
      },
      {
        extends: true,
        test: {
          // In Node, with a real Postgres at the other end.
          name: 'postgres',
          include: [postgres],
          // As the fast ones: none of them changes what the others of its process see.
          isolate: false,
          exclude: leftOut,
          globalSetup: 'test/support/postgres-setup.ts',
          ...slowly,
        },
      },
      {
        extends: true,
        test: {
          // In Node, with a real Chromium at the other end.
          name: 'browser',
          include: [browser],
          exclude: leftOut,
          globalSetup: 'test/browser/support/global-setup.ts',
          ...slowly,
        },
      },
    ],
  },
})

import { defineConfig } from 'vitest/config'
import { inlineSourceForVite } from './build/inline-source.ts'
import { SummaryReporter } from './build/summary-reporter.ts'
import { testsThatNeedSqlite } from './build/tests-without-sqlite.ts'

/** What starts processes, opens sockets or builds packages: slower, and never more than two files at once. */
const heavy = [
  'test/architecture/**',
  'test/crash/**',
  'test/documentation/**',
  'test/end-to-end/**',
  'test/examples/**',
  'test/hunt/**',
  'test/simulation/**',
]

const browser = 'test/browser/**/*.browser.test.ts'

const postgres = 'test/**/*.postgres.test.ts'

const leftOut = [...testsThatNeedSqlite(), '**/node_modules/**']

export default defineConfig({
  plugins: [inlineSourceForVite()],
  test: {
    pool: 'forks',
    reporters: ['default', new SummaryReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...heavy, browser, postgres, ...leftOut],
          testTimeout: 10_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'heavy',
          include: heavy.map((folder) => `${folder}/*.test.ts`),
          exclude: [postgres, ...leftOut],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          // After the fast ones: vitest wants projects with their own number of workers to run one after the other.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // In Node, with a real Postgres at the other end.
          name: 'postgres',
          include: [postgres],
          exclude: leftOut,
          globalSetup: 'test/support/postgres-setup.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})

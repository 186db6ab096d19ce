import { defineConfig } from 'vitest/config'
import { inlineSourceForVite } from './build/inline-source.ts'
import { SummaryReporter } from './build/summary-reporter.ts'

/** What starts processes, opens sockets or builds packages: slower, and never more than two files at once. */
const heavy = ['test/architecture/**', 'test/crash/**', 'test/end-to-end/**', 'test/examples/**']

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
          exclude: [...heavy, '**/node_modules/**', 'test/**/*.browser.test.ts'],
          testTimeout: 10_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'heavy',
          include: heavy.map((folder) => `${folder}/*.test.ts`),
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
    ],
  },
})

/** Mutation testing of the pure rooms: `npm run mutate`, or one room with `npm run mutate -- --mutate 'src/protocol/**'`. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts' },
  coverageAnalysis: 'perTest',
  mutate: [
    'src/protocol/**',
    'src/client/{operation,policy}/**',
    // The queue itself has a clock.
    'src/client/gate/!(gates|origin-gate).ts',
    'src/server/{entry,admission}/**',
  ],
  concurrency: 1,
  // A mutant that loops for ever is killed by this; a busy machine must not look like one.
  timeoutMS: 20_000,
  incrementalFile: 'reports/mutation/incremental.json',
  reporters: ['progress-append-only', 'clear-text', 'html'],
  htmlReporter: { fileName: 'reports/mutation/index.html' },
  clearTextReporter: { logTests: false, reportTests: false },
  tempDirName: 'reports/mutation/sandbox',
  ignorePatterns: ['/dist', '/docs', '/examples', '/reports', '/biome.json'],
  thresholds: { high: 95, low: 90, break: 90 },
}

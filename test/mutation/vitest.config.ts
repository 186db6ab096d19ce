import { defineConfig } from 'vitest/config'

/** What each mutant is put to: the unit tests of the pure rooms. Draws of the property tests would make the score a matter of luck. */
export default defineConfig({
  test: {
    include: [
      'test/unit/protocol/**/*.test.ts',
      'test/unit/client/{gate,operation,policy}/**/*.test.ts',
      'test/unit/server/{admission,entry}/**/*.test.ts',
    ],
    // One thread for all files of a run: most of the time of a mutant would be spent on starting others.
    isolate: false,
    testTimeout: 60_000,
  },
})

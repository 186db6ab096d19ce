import { defineConfig } from 'vitest/config'

/** The tests that mutants are put to: those of the pure rooms, which need no disk, no process and no socket. */
export default defineConfig({
  test: {
    include: [
      'test/unit/protocol/**/*.test.ts',
      'test/unit/client/{operation,policy}/**/*.test.ts',
      'test/unit/server/{admission,entry}/**/*.test.ts',
      'test/property/{backoff,breaker,codec,protocol,retry-budget}.test.ts',
    ],
    isolate: false,
    testTimeout: 60_000,
  },
})

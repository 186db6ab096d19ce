import { afterAll, onTestFinished, TestRunner } from 'vitest'

const open = new Set<() => Promise<void>>()

/**
 * Closes something when the test that opened it ends, also where it fails; what was opened outside of a test, in a
 * `beforeAll`, when the file does.
 */
export function closeAtEnd(close: () => Promise<void>): void {
  open.add(close)
  if (!TestRunner.getCurrentTest()) return
  onTestFinished(async () => {
    open.delete(close)
    await close()
  })
}

// The last that was opened goes first: browsers before the servers that they talk to.
afterAll(async () => {
  for (const close of [...open].reverse()) await close()
  open.clear()
})

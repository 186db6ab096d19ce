import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Done after the test, last first. */
export function afterwards(cleanup: () => unknown): void {
  cleanups.push(cleanup)
}

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-scenario-'))
  afterwards(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Done after the test, last first. */
export function afterwards(cleanup: () => unknown): void {
  onTestFinished(async () => void (await cleanup()))
}

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-scenario-'))
  afterwards(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

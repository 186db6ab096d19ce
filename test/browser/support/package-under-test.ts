import { cpSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { browserEntries } from '../../../tsup.config.ts'

/**
 * The browser build in a folder of its own, which stays as it is when somebody builds again: what is in dist/, or,
 * where the source is newer than that, a build made now.
 */
export async function packageUnderTest(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-package-under-test-'))
  if (builtAt() > newest('src')) cpSync('dist/browser', folder, { recursive: true })
  else await buildNow(folder)
  return folder
}

async function buildNow(outdir: string): Promise<void> {
  console.log('dist/browser is older than the source: testing a build made now')
  await build({
    entryPoints: { ...browserEntries },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['browser'],
    packages: 'external',
    logLevel: 'error',
  })
}

function builtAt(): number {
  const doors = Object.keys(browserEntries).map((door) =>
    statSync(`dist/browser/${door}.js`, { throwIfNoEntry: false }),
  )
  return Math.min(...doors.map((door) => door?.mtimeMs ?? 0))
}

function newest(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...names.map((name) => statSync(join(folder, name)).mtimeMs))
}

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** npm's packages of them, in the version that docs/guides/runtimes.md names. */
const PACKAGES = {
  bun: 'bun@1.4.4',
  deno: 'deno@2.9.6',
  workerd: 'workerd@1.20261110.1',
  'Node 22': 'node@22.23.3',
  'Node 24': 'node@24.21.0',
  pnpm: 'pnpm@12.18.0',
} as const

export type RuntimeName = keyof typeof PACKAGES

/** Large, and of use to few: they are installed on demand, next to the caches of other tools. */
const CACHE = resolve('node_modules/.cache/holdfast')

/** The program of a runtime; installed if it is not there yet. */
export async function installRuntime(name: RuntimeName): Promise<string> {
  const wanted = PACKAGES[name]
  const folder = join(CACHE, wanted)
  if (!existsSync(folder)) await installInto(folder, wanted)
  return join(folder, 'node_modules/.bin', wanted.slice(0, wanted.indexOf('@')))
}

/** Whole or not at all, also where it is interrupted or two do it at once. */
async function installInto(folder: string, wanted: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, '.draft-'))
  try {
    writeFileSync(join(draft, 'package.json'), '{ "private": true }')
    const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', ...quietly, wanted], { cwd: draft, timeout: 240_000 })
    if (!existsSync(folder)) renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

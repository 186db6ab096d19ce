import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The driver of SQLite is compiled for one version of Node. On another one the tests that mention it are left out,
 * by name and aloud: `HOLDFAST_TEST_WITHOUT_SQLITE=1`.
 */
export function testsThatNeedSqlite(): string[] {
  if (!process.env.HOLDFAST_TEST_WITHOUT_SQLITE) return []
  const names = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'))
  const paths = names.map((name) => join('test', name)).sort()
  const found = paths.filter((path) => /sqlite|packed-package/i.test(readFileSync(path, 'utf8')))
  // Each project of vitest reads the configuration again; once is enough.
  if (process.env.HOLDFAST_TEST_WITHOUT_SQLITE !== 'said')
    console.log(`Left out, because they need SQLite:\n${found.map((path) => `  ${path}`).join('\n')}`)
  process.env.HOLDFAST_TEST_WITHOUT_SQLITE = 'said'
  return found
}

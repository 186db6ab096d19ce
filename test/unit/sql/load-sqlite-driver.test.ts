import { describe, expect, it } from 'vitest'
import { sqliteAdvice } from '../../../src/sql/load-sqlite-driver.ts'

const NPM = 'npm/10.8.2 node/v20.19.0 linux x64 workspaces/false'
const PNPM = 'pnpm/10.4.1 npm/? node/v20.19.0 linux x64'
const YARN = 'yarn/4.5.0 npm/? node/v20.19.0 linux x64'
const BUN = 'bun/1.2.0 npm/? node/v22.6.0 linux x64'

describe('where better-sqlite3 is missing', () => {
  it.each([
    [NPM, '`npm install better-sqlite3`'],
    [PNPM, '`pnpm add better-sqlite3`'],
    [YARN, '`yarn add better-sqlite3`'],
    [BUN, '`bun add better-sqlite3`'],
  ])('the command of %s is named, and no other', (agent, command) => {
    const sentence = sqliteAdvice('missing', { agent })
    expect(sentence).toContain(`needs the package better-sqlite3: run ${command}`)
    expect(sentence.match(/`/g)).toHaveLength(2)
  })
})

describe('where better-sqlite3 cannot be loaded', () => {
  it.each([
    // npm 12 runs no install script that `allowScripts` does not name.
    [NPM, /`npm rebuild better-sqlite3`.*npm 12.*`npm approve-scripts better-sqlite3`/],
    // pnpm runs no build script that was not approved.
    [PNPM, /`pnpm approve-builds`.*`onlyBuiltDependencies`.*`pnpm rebuild better-sqlite3`/],
    [YARN, /`yarn rebuild better-sqlite3`/],
    [BUN, /`bun pm trust better-sqlite3`/],
  ])('the command of %s is named', (agent, commands) => {
    expect(sqliteAdvice('unloadable', { agent })).toMatch(commands)
  })

  it('by a package manager that is not known, all four are named', () => {
    for (const agent of [undefined, '', 'cargo/1']) {
      const sentence = sqliteAdvice('unloadable', { agent })
      for (const name of ['npm', 'pnpm', 'yarn', 'bun']) expect(sentence).toMatch(new RegExp(`(^|\\W)${name}: `))
    }
  })

  it.each(['18.20.4', '16.0.0', '20.18.3'])('in Node %s, which is too old, says which Node is needed', (node) => {
    for (const problem of ['missing', 'unloadable'] as const) {
      expect(sqliteAdvice(problem, { agent: NPM, node })).toBe(
        `Holdfast needs Node 20.19 or newer, and this is ${node}`,
      )
    }
  })

  it.each(['20.19.0', '22.0.0', '24.1.0'])('in Node %s does not', (node) => {
    expect(sqliteAdvice('unloadable', { agent: NPM, node })).toContain('npm rebuild')
  })

  it('in Bun there is no command that helps', () => {
    for (const problem of ['missing', 'unloadable'] as const) {
      const sentence = sqliteAdvice(problem, { agent: BUN, bun: '1.2.0' })
      expect(sentence).toMatch(/does not run in Bun.*journal/)
      expect(sentence).not.toMatch(/`(bun|npm)/)
    }
  })
})

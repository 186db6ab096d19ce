import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleServer, exampleServer } from '../documentation/support/example-server.ts'
import { installRuntime } from '../runtimes/runtimes.ts'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'
import { NewcomerFolder } from './newcomer-folder.ts'
import { asCommonJs, asModule, tutorialSteps } from './tutorial.ts'

/*
 * The same hour with nothing but the network: each package manager installs the tarball into an empty folder, for each Node.
 * It takes minutes, since better-sqlite3 may be compiled. Only `npm run newcomer` has the time.
 */

const isWhole = process.env.HOLDFAST_NEWCOMER === 'all'
const MINUTES = 60_000

interface Newcomer {
  readonly manager: 'npm' | 'pnpm'
  readonly node: '20' | '22' | '24'
}

const newcomers: readonly Newcomer[] = (['npm', 'pnpm'] as const).flatMap((manager) =>
  (['20', '22', '24'] as const).map((node) => ({ manager, node })),
)

let server: ExampleServer
let packed: PackedPackage

beforeAll(async () => {
  server = await exampleServer()
  packed = await packPackage()
})
afterAll(async () => {
  packed?.remove()
  await server?.close()
})

async function nodeOf({ node }: Newcomer): Promise<string> {
  if (node === process.versions.node.split('.')[0]) return process.execPath
  return installRuntime(node === '22' ? 'Node 22' : 'Node 24')
}

async function install(folder: NewcomerFolder, { manager, node }: Newcomer): Promise<number> {
  folder.write('package.json', '{ "name": "shop", "version": "1.0.0", "private": true }')
  // Newcomers with a newer Node have no headers to compile with, and need none.
  const environment = node === '20' ? {} : { npm_config_nodedir: '/nowhere' }
  if (manager === 'npm') return (await folder.run('npm', ['install', packed.tarball], environment)).code
  // pnpm runs no build script that was not approved, and says so.
  folder.write('pnpm-workspace.yaml', 'allowBuilds:\n  better-sqlite3: false\n')
  return (await folder.run(await installRuntime('pnpm'), ['add', packed.tarball])).code
}

/** Everything the programs print, with errors among it. */
async function followTutorial(folder: NewcomerFolder): Promise<string[]> {
  const said: string[] = []
  for (const { name, code } of tutorialSteps()) {
    folder.write(`${name}.mjs`, asModule(code))
    folder.write(`${name}.cjs`, asCommonJs(code))
    for (const file of [`${name}.mjs`, `${name}.cjs`]) {
      const ran = await folder.node(file)({ API_URL: server.url, HOLDFAST_DB: `${file}.db` })
      said.push(...`${ran.stdout}${ran.code === 0 ? '' : ran.stderr}`.trim().split('\n'))
    }
  }
  return said
}

const EXPECTED = tutorialSteps().flatMap(({ prints }) => [...prints, ...prints])

/** Node 20 has no SQLite of its own. */
const needsApproval = ({ manager, node }: Newcomer): boolean => manager === 'pnpm' && node === '20'

if (isWhole) {
  describe.each(newcomers)('with $manager and Node $node', { timeout: 15 * MINUTES }, (newcomer) => {
    it('the tutorial does what it says', async () => {
      console.log(`${newcomer.manager} and Node ${newcomer.node} …`)
      const folder = new NewcomerFolder(await nodeOf(newcomer))
      try {
        expect(await install(folder, newcomer)).toBe(0)
        if (needsApproval(newcomer)) {
          expect((await followTutorial(folder)).join('\n')).toMatch(/`pnpm approve-builds`|Node 22\.16 or newer/)
          await approve(folder)
        }
        expect(await followTutorial(folder)).toEqual(EXPECTED)
      } finally {
        folder.remove()
      }
    })
  })
} else {
  it('is left to `npm run newcomer`', () => expect(newcomers).toHaveLength(6))
}

async function approve(folder: NewcomerFolder): Promise<void> {
  folder.write('pnpm-workspace.yaml', 'allowBuilds:\n  better-sqlite3: true\n')
  // Where npm is told to take the headers of Node from, node-gyp below pnpm has to be told as well.
  const nodedir = (await folder.run('npm', ['config', 'get', 'nodedir'])).stdout.trim()
  const environment = nodedir === 'undefined' ? {} : { npm_config_nodedir: nodedir }
  const built = await folder.run(await installRuntime('pnpm'), ['rebuild', 'better-sqlite3'], environment)
  expect(built).toMatchObject({ code: 0 })
}

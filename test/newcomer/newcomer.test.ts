import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleServer, exampleServer } from '../documentation/support/example-server.ts'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'
import { NewcomerFolder } from './newcomer-folder.ts'
import { approve, emptyFolderOf, followTutorial, install, needsApproval, newcomers } from './package-managers.ts'
import { serverBundlers } from './server-bundles.ts'
import { asCommonJs, asModule, tutorialSteps } from './tutorial.ts'
import { TYPE_SETTINGS, typeErrorsOf } from './type-check.ts'

/*
 * The first hour with the package: a folder, the tarball, the tutorial to the letter. Here with the Node at hand and the
 * packages of this repository; `npm run newcomer` has more of both.
 */

const isWhole = process.env.HOLDFAST_NEWCOMER === 'all'

const steps = tutorialSteps()
let server: ExampleServer
let packed: PackedPackage
let folder: NewcomerFolder

beforeAll(async () => {
  server = await exampleServer()
  packed = await packPackage()
  folder = new NewcomerFolder(process.execPath, packed.project)
})
afterAll(async () => {
  packed?.remove()
  await server?.close()
})

it('finds programs to write down in the tutorial', () => {
  expect(steps.length).toBeGreaterThanOrEqual(4)
  for (const { prints } of steps) expect(prints).not.toEqual([])
})

describe.each([
  ['ES modules', 'mjs', asModule],
  ['CommonJS', 'cjs', asCommonJs],
] as const)('the tutorial in %s', (_, extension, written) => {
  it.concurrent.for(steps)('prints what the page says: $name', async ({ name, code, prints }, { expect }) => {
    const file = `${extension}/${name}.${extension}`
    folder.write(file, written(code))
    const HOLDFAST_DB = `${extension}-${name}.db`
    const { stdout, ...rest } = await folder.node(file)({ API_URL: server.url, HOLDFAST_DB })
    expect(rest).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n')).toEqual(prints)
  })
})

describe('the tutorial in TypeScript', () => {
  it.each(isWhole ? TYPE_SETTINGS : TYPE_SETTINGS.filter(({ nodeTypes }) => nodeTypes === 'absent'))(
    'compiles with $module, the types of Node $nodeTypes',
    (settings) => {
      const names = steps.map(({ name }) => `${settings.nodeTypes}/${name}.mts`)
      const given = settings.nodeTypes === 'absent' ? 'declare const process: { env: Record<string, string> }\n' : ''
      for (const [index, { code }] of steps.entries()) folder.write(names[index] ?? '', given + code)
      expect(typeErrorsOf(folder.path, names, settings)).toEqual([])
    },
  )
})

describe('the tutorial in one file with all of its packages, made by', () => {
  const bundlers = Object.entries(serverBundlers).filter(([name]) => isWhole || !name.startsWith('webpack'))

  it.each(bundlers)('%s, runs', async (bundler, bundle) => {
    const [first] = steps
    folder.write('server.mjs', asModule(first?.code ?? ''))
    folder.write('server.cjs', asCommonJs(first?.code ?? ''))
    const file = await bundle(folder.path)
    const { code, stdout, stderr } = await folder.node(file)({ API_URL: server.url, HOLDFAST_DB: `${bundler}.db` })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim().split('\n')).toEqual(first?.prints)
  })
})

if (isWhole) {
  describe.each(newcomers)(
    'with $manager and Node $node, in an empty folder',
    { timeout: 900_000, retry: 0 },
    (newcomer) => {
      it('the tutorial does what it says', async () => {
        console.log(`${newcomer.manager} and Node ${newcomer.node} …`)
        const empty = await emptyFolderOf(newcomer)
        try {
          expect(await install(empty, newcomer, packed.tarball)).toMatchObject({ code: 0 })
          if (needsApproval(newcomer)) {
            expect((await followTutorial(empty, server.url)).join('\n')).toMatch(/`pnpm approve-builds`/)
            expect(await approve(empty)).toMatchObject({ code: 0 })
          }
          const prints = steps.flatMap((step) => [...step.prints, ...step.prints])
          expect(await followTutorial(empty, server.url)).toEqual(prints)
        } finally {
          empty.remove()
        }
      })
    },
  )
}

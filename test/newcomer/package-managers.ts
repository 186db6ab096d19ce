import { installRuntime } from '../runtimes/runtimes.ts'
import { NewcomerFolder, type Ran } from './newcomer-folder.ts'
import { asCommonJs, asModule, tutorialSteps } from './tutorial.ts'

/** A newcomer with nothing but the network. */
export interface Newcomer {
  readonly manager: 'npm' | 'pnpm'
  readonly node: '20' | '22' | '24'
}

export const newcomers: readonly Newcomer[] = (['npm', 'pnpm'] as const).flatMap((manager) =>
  (['20', '22', '24'] as const).map((node) => ({ manager, node })),
)

export async function emptyFolderOf({ node }: Newcomer): Promise<NewcomerFolder> {
  const isOurs = node === process.versions.node.split('.')[0]
  return new NewcomerFolder(isOurs ? process.execPath : await installRuntime(node === '22' ? 'Node 22' : 'Node 24'))
}

/** For real: on Node 20 npm compiles better-sqlite3, which takes a minute or more. */
export async function install(folder: NewcomerFolder, { manager, node }: Newcomer, tarball: string): Promise<Ran> {
  folder.write('package.json', '{ "name": "shop", "version": "1.0.0", "private": true }')
  // Newcomers with a newer Node have no headers to compile with, and need none.
  const environment = node === '20' ? {} : { npm_config_nodedir: '/nowhere' }
  if (manager === 'npm') return folder.run('npm', ['install', tarball], environment)
  // pnpm runs no build script that was not approved, and fails where that was not decided.
  folder.write('pnpm-workspace.yaml', 'allowBuilds:\n  better-sqlite3: false\n')
  return folder.run(await installRuntime('pnpm'), ['add', tarball])
}

/** Node 20 has no SQLite of its own: there the build has to be approved. */
export function needsApproval({ manager, node }: Newcomer): boolean {
  return manager === 'pnpm' && node === '20'
}

export async function approve(folder: NewcomerFolder): Promise<Ran> {
  folder.write('pnpm-workspace.yaml', 'allowBuilds:\n  better-sqlite3: true\n')
  // Where npm is told to take the headers of Node from, node-gyp below pnpm has to be told as well.
  const nodedir = (await folder.run('npm', ['config', 'get', 'nodedir'])).stdout.trim()
  const environment = nodedir === 'undefined' ? {} : { npm_config_nodedir: nodedir }
  return folder.run(await installRuntime('pnpm'), ['rebuild', 'better-sqlite3'], environment)
}

/** What all of its programs print, as ES modules and in CommonJS, with errors among it. */
export async function followTutorial(folder: NewcomerFolder, apiUrl: string): Promise<string[]> {
  const said: string[] = []
  for (const { name, code } of tutorialSteps()) {
    folder.write(`${name}.mjs`, asModule(code))
    folder.write(`${name}.cjs`, asCommonJs(code))
    for (const file of [`${name}.mjs`, `${name}.cjs`]) {
      const ran = await folder.node(file)({ API_URL: apiUrl, HOLDFAST_DB: `${file}.db` })
      said.push(...`${ran.stdout}${ran.code === 0 ? '' : ran.stderr}`.trim().split('\n'))
    }
  }
  return said
}

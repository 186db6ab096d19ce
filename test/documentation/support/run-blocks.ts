import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { inlineSourceForEsbuild } from '../../bundling/inline-source.ts'
import { type Block, root } from './pages.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Programs {
  /** Runs a block in a process of its own, in an empty folder, against the server. */
  run(block: Block, apiUrl: string): Promise<Ran>
  remove(): void
}

const PATIENCE_MS = 15_000

/** Bundles the blocks with the sources, once for all. Inside node_modules, so that packages are found. */
export async function programsOf(blocks: readonly Block[]): Promise<Programs> {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'holdfast-documentation-'))
  const entryPoints = blocks.map((block, index) => {
    const entry = join(folder, `block-${index}.ts`)
    writeFileSync(entry, block.code)
    return entry
  })
  await build({
    entryPoints,
    outdir: join(folder, 'out'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    alias: {
      'holdfast/server/adapter': join(root, 'src/server/adapter/index.ts'),
      'holdfast/server/express': join(root, 'src/server/express/index.ts'),
      'holdfast/server/fastify': join(root, 'src/server/fastify/index.ts'),
      'holdfast/server/hono': join(root, 'src/server/hono/index.ts'),
      'holdfast/server/node': join(root, 'src/server/node/index.ts'),
      'holdfast/server/postgres': join(root, 'src/server/postgres/index.ts'),
      'holdfast/server/sqlite': join(root, 'src/server/sqlite/index.ts'),
      'holdfast/server': join(root, 'src/server/index.ts'),
      'holdfast/sqlite': join(root, 'src/sqlite/index.ts'),
      'holdfast/postgres': join(root, 'src/postgres/index.ts'),
      'holdfast/testing': join(root, 'src/testing/index.ts'),
      holdfast: join(root, 'src/index.ts'),
    },
    plugins: [platformPlugin, inlineSourceForEsbuild()],
    logLevel: 'silent',
  })
  return {
    run: (block, apiUrl) => {
      const index = blocks.indexOf(block)
      const cwd = join(folder, `cwd-${index}`)
      mkdirSync(cwd)
      return runNode(join(folder, 'out', `block-${index}.mjs`), cwd, apiUrl)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** `#platform` is a name of the package, not of a dependency: `packages: 'external'` must not leave it outside. */
const platformPlugin = {
  name: 'platform',
  setup(bundler: Parameters<ReturnType<typeof inlineSourceForEsbuild>['setup']>[0]) {
    bundler.onResolve({ filter: /^#platform$/ }, () => ({ path: join(root, 'src/client/platform/node.ts') }))
  },
}

function runNode(file: string, cwd: string, apiUrl: string): Promise<Ran> {
  const { HOLDFAST_DB: _journalOfWhoeverRunsThis, ...inherited } = process.env
  const env = { ...inherited, API_URL: apiUrl, NODE_OPTIONS: '' }
  return new Promise((resolve) => {
    execFile(process.execPath, [file], { cwd, env, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0
      resolve({ code, stdout, stderr })
    })
  })
}

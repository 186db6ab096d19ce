import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { createClient, memoryJournal } from '../../src/index.ts'
import type { retryContext } from '../../src/server/http/retry-context.ts'
import { inlineSourceForEsbuild } from '../bundling/inline-source.ts'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

interface Copy {
  readonly createClient: typeof createClient
  readonly memoryJournal: typeof memoryJournal
  readonly retryContext: typeof retryContext
}

const PROGRAM = `
  export { createClient, memoryJournal } from './src/index.ts'
  export { retryContext } from './src/server/http/retry-context.ts'`

/** The library as a file of its own, as one of several installs, or bundled with somebody's service. */
async function bundle(folder: string, format: 'esm' | 'cjs'): Promise<string> {
  const outfile = join(folder, format === 'esm' ? 'copy.mjs' : 'copy.cjs')
  await build({
    stdin: { contents: PROGRAM, resolveDir: '.' },
    outfile,
    bundle: true,
    format,
    platform: 'node',
    external: ['better-sqlite3', 'undici'],
    logLevel: 'error',
    logOverride: { 'empty-import-meta': 'silent' },
    plugins: [inlineSourceForEsbuild()],
  })
  return outfile
}

describe('two copies of the library in one process', () => {
  const copies = new Map<string, Copy>()
  let folder: string
  let server: TestServer

  beforeAll(async () => {
    folder = mkdtempSync(join(process.cwd(), 'node_modules/.holdfast-copies-'))
    const [esm, cjs] = await Promise.all([bundle(folder, 'esm'), bundle(folder, 'cjs')])
    copies.set('ESM', (await import(pathToFileURL(esm).href)) as Copy)
    copies.set('CommonJS', createRequire(import.meta.url)(cjs) as Copy)
    server = await httpServer((_request, response) => response.writeHead(503).end())
  })

  afterAll(async () => {
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each([
    ['ESM', 'CommonJS'],
    ['CommonJS', 'ESM'],
  ])('share the retry context: served by %s, called by %s', async (serving, calling) => {
    const { retryContext: served } = copies.get(serving) as Copy
    const { createClient: make, memoryJournal: journal } = copies.get(calling) as Copy
    const client = make({ journal: journal(), retry: { base: 1, cap: 2 }, baseUrl: server.origin })
    server.seen.length = 0
    await served.run({ 'do-not-retry': 'true' }, () => client.post('/').catch(() => {}))
    expect(server.seen).toHaveLength(1)
    await client.post('/').catch(() => {})
    expect(server.seen).toHaveLength(4)
    await client.close()
  })
})

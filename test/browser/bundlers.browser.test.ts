import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Configuration, type Module, type Stats, webpack } from 'webpack'
import { countingApi } from './support/counting-api.ts'
import { projectWith } from './support/installed-package.ts'
import { launch, type TestBrowser } from './support/launch.ts'
import { servePages } from './support/serve-pages.ts'

interface Bundle {
  readonly text: string
  /** The files that went into it. */
  readonly inputs: readonly string[]
}

/** A shop with a choice of journals. */
const MAIN = `
import { createClient, memoryJournal } from 'holdfast'
import { indexedDbJournal } from 'holdfast/indexeddb'

globalThis.place = async (baseUrl, kind) => {
  // The turn that a debugger starts is free of the page's policy.
  await new Promise((ready) => setTimeout(ready))
  const journal = { memory: memoryJournal, indexeddb: indexedDbJournal }[kind]?.()
  const client = createClient({ baseUrl, journal })
  const answer = await client.post('/charges', { json: { amount: 5000 } }).json()
  await client.close()
  return answer
}
`

const bundlers: Readonly<Record<string, (project: string) => Promise<Bundle>>> = {
  async esbuild(project) {
    const { outputFiles, metafile } = await esbuild({
      entryPoints: ['main.js'],
      absWorkingDir: project,
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      logLevel: 'silent',
    })
    return { text: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) }
  },
  async vite(project) {
    const built = await vite({
      root: project,
      configFile: false,
      logLevel: 'silent',
      build: { write: false, rollupOptions: { input: join(project, 'main.js') } },
    })
    const chunks = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
    const [chunk, ...more] = chunks.filter((one) => one.type === 'chunk')
    expect(more).toEqual([])
    return { text: chunk?.code ?? '', inputs: chunk?.moduleIds ?? [] }
  },
  async webpack(project) {
    const output = { path: join(project, 'built'), filename: 'main.js' }
    const { compilation } = await packed({ mode: 'production', context: project, entry: './main.js', output })
    expect([...compilation.errors, ...compilation.warnings]).toEqual([])
    expect(Object.keys(compilation.assets)).toEqual(['main.js'])
    const inputs = [...compilation.modules].flatMap(filesOf)
    return { text: readFileSync(join(output.path, 'main.js'), 'utf8'), inputs }
  },
}

async function packed(configuration: Configuration): Promise<Stats> {
  const packer = webpack(configuration)
  try {
    return await new Promise<Stats>((resolve, reject) => {
      packer.run((error, stats) => (stats ? resolve(stats) : reject(error)))
    })
  } finally {
    await new Promise((closed) => packer.close(closed))
  }
}

/** Several modules may have become one. */
function filesOf(module: Module): string[] {
  const { modules } = module as { modules?: readonly Module[] }
  return modules ? modules.flatMap(filesOf) : [module.nameForCondition() ?? module.identifier()]
}

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

describe.each(Object.entries(bundlers))('a bundle by %s', (_name, bundle) => {
  it('has nothing of Node and no SQL in it', async () => {
    const { text, inputs } = await bundle(projectWith(MAIN))
    expect(text).not.toMatch(
      /node:|better-sqlite3|undici|\brequire\(|\bBuffer\b|\bprocess\.[a-z]|__dirname|import\.meta/,
    )
    expect(text).not.toMatch(/\b(select .* from|insert into|create table|delete from|pragma)\b/i)
    const packages = inputs.map((path) => /^.*node_modules\/([^/]+)\//.exec(path)?.[1] ?? path.replace(/^.*\//, ''))
    expect(packages).toEqual(expect.arrayContaining(['holdfast', 'idb-keyval', 'main.js', 'uuid']))
    expect(packages.filter((name) => !['holdfast', 'idb-keyval', 'main.js', 'uuid'].includes(name))).toEqual([])
  })

  it('works in a page that allows scripts of its own origin and requests to the API, and nothing else', async () => {
    const { text } = await bundle(projectWith(MAIN))
    const pages = await servePages()
    const api = await countingApi()
    pages.script('/main.js', text)
    const page = await browser.newPage()
    const refused: string[] = []
    page.on('console', (message) => refused.push(...(/policy/i.test(message.text()) ? [message.text()] : [])))
    const path = pages.page({
      html: '<!doctype html><title>shop</title><script type="module" src="/main.js"></script>',
      policy: `default-src 'none'; script-src 'self'; connect-src ${api.origin}`,
    })
    await page.goto(pages.origin + path)
    for (const [count, kind] of ['default', 'indexeddb', 'memory'].entries()) {
      const placed = await page.evaluate(
        ([origin, journal]) => (globalThis as unknown as { place: Place }).place(origin, journal),
        [api.origin, kind] as [string, string],
      )
      expect(placed).toEqual({ number: count + 1 })
    }
    expect(api).toMatchObject({ requests: 3, effects: 3, complaints: [] })
    expect(refused).toEqual([])
  })
})

type Place = (origin: string, journal: string) => Promise<unknown>

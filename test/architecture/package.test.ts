import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PackedPackage, packPackage, run } from '../support/packed-package.ts'

/** Bytes that npm downloads: see docs/decisions/0021-what-the-package-carries.md. */
const LARGEST_TARBALL = 910_000

const CONSUMER = 'test/architecture/consumer'
const bin = (name: string): string => resolve('node_modules/.bin', name)

let packed: PackedPackage

beforeAll(async () => {
  if (!existsSync('dist/index.js')) throw new Error('Nothing is built yet: npm run build')
  packed = await packPackage()
  for (const name of ['story.cjs', 'first-program.mjs', 'first-program.cjs']) {
    copyFileSync(join(CONSUMER, name), join(packed.project, name))
  }
})
afterAll(() => packed?.remove())

/** What the process printed and how it ended, without throwing. */
const attempt = (file: string, args: readonly string[], cwd = '.'): Promise<{ code: number; output: string }> =>
  run(file, [...args], { cwd, timeout: 50_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error) => ({ code: error.code ?? 1, output: `${error.stdout}${error.stderr}` }),
  )

describe('the packed package', () => {
  it('carries the build and nothing else', async () => {
    const { output } = await attempt('tar', ['-tzf', packed.tarball])
    const unexpected = output
      .split('\n')
      .filter((name) => !/^(package\/(dist\/|docs\/|package\.json|README|LICENSE|CHANGELOG|SECURITY)|$)/.test(name))
    expect(unexpected).toEqual([])
  })

  it('is small enough to be taken along', () => {
    expect(statSync(packed.tarball).size).toBeLessThan(LARGEST_TARBALL)
  })

  it('has the same classes for programs that import it and for those that require it', async () => {
    const program = `
      import * as imported from 'holdfast'
      import { createRequire } from 'node:module'
      const required = createRequire(import.meta.url)('holdfast')
      const names = Object.keys(required)
      console.log(names.length > 0 && names.every((name) => imported[name] === required[name]))
    `
    writeFileSync(join(packed.project, 'both.mjs'), program)
    expect(await attempt(process.execPath, ['both.mjs'], packed.project)).toEqual({ code: 0, output: 'true\n' })
  })

  it('needs OpenTelemetry for its own door only', async () => {
    const imported = (...doors: string[]): Promise<unknown> => {
      const program = doors.map((door) => `import '${door}'`).join('\n')
      writeFileSync(join(packed.project, 'doors.mjs'), program)
      return attempt(process.execPath, ['doors.mjs'], packed.project)
    }
    const others = ['holdfast', 'holdfast/server', 'holdfast/diagnostics-channel']
    expect(await imported(...others)).toEqual({ code: 0, output: '' })
    expect(await imported('holdfast/opentelemetry')).toMatchObject({
      code: 1,
      output: expect.stringContaining("Cannot find module '@opentelemetry/api'"),
    })
    packed.link('@opentelemetry/api')
    expect(await imported(...others, 'holdfast/opentelemetry')).toEqual({ code: 0, output: '' })
  })

  it('satisfies publint', async () => {
    expect(await attempt(bin('publint'), ['run', packed.tarball, '--strict'])).toMatchObject({ code: 0 })
  })

  it('satisfies are-the-types-wrong', async () => {
    expect(await attempt(bin('attw'), [packed.tarball, '--profile', 'node16', '--no-emoji'])).toMatchObject({ code: 0 })
  })

  it('has a program that runs where it is installed', async () => {
    const program = 'node_modules/holdfast/dist/cli/main.cjs'
    expect(await attempt(process.execPath, [program, 'list'], packed.project)).toEqual({
      code: 1,
      output: 'holdfast: There is no file .holdfast/operations.db. Name the database with --db, or with HOLDFAST_DB\n',
    })
  })

  it.each(['first-program.mjs', 'first-program.cjs'])('works when installed: %s', async (program) => {
    const { code, output } = await attempt(process.execPath, [program], packed.project)
    expect(output).toBe('{"sameKey":true,"sameClass":true,"requests":2,"succeeded":1}\n')
    expect(code).toBe(0)
  })
})

describe('the types of the packed package', () => {
  const compile = async (
    names: readonly [string, ...string[]],
    options: Record<string, unknown>,
    program = 'first-program.ts.txt',
  ): Promise<{ code: number; output: string }> => {
    for (const name of names) copyFileSync(join(CONSUMER, program), join(packed.project, name))
    const shared = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      target: 'ES2022',
    }
    const config = { compilerOptions: { ...shared, ...options }, files: names }
    writeFileSync(join(packed.project, `${names[0]}.json`), JSON.stringify(config))
    return attempt(bin('tsc'), ['-p', `${names[0]}.json`], packed.project)
  }
  const node = {
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    types: ['node'],
    lib: ['ES2023', 'ESNext.Disposable'],
  }
  const dom = { module: 'ESNext', moduleResolution: 'Bundler', types: [], lib: ['ES2023', 'ESNext.Disposable', 'DOM'] }

  it('serve Node programs without the DOM, as ESM and as CommonJS', async () => {
    expect(await compile(['esm.mts', 'cjs.cts'], node)).toEqual({ code: 0, output: '' })
  })

  it('serve an app of Express, with the transactions of its own ledger', async () => {
    packed.link('@types/express')
    const express = { ...node, esModuleInterop: true }
    expect(await compile(['app-esm.mts'], express, 'express-app.ts.txt')).toEqual({ code: 0, output: '' })
    expect(await compile(['app-cjs.cts'], express, 'express-app.ts.txt')).toEqual({ code: 0, output: '' })
  })

  it('serve an app of Express without the types of Express', async () => {
    const program = 'without-express-types.ts.txt'
    expect(await compile(['untyped.mts', 'untyped.cts'], node, program)).toEqual({ code: 0, output: '' })
  })

  it('serve a program that has neither the types of Node nor those of explicit resource management', async () => {
    const options = { ...dom, lib: ['ES2022', 'DOM'], customConditions: ['browser'] }
    expect(await compile(['plain.ts'], options)).toEqual({ code: 0, output: '' })
  })

  it('serve a browser program', async () => {
    const options = { ...dom, customConditions: ['browser'] }
    expect(await compile(['browser.ts'], options)).toEqual({ code: 0, output: '' })
  })
})

describe('the browser build', () => {
  const texts = (): string[] => {
    const names = readdirSync('dist/browser').filter((name) => name.endsWith('.js'))
    return names.map((name) => readFileSync(join('dist/browser', name), 'utf8'))
  }

  it('imports two small packages at most, and nothing of Node', () => {
    const specifiers = texts().flatMap((text) => ts.preProcessFile(text).importedFiles.map((file) => file.fileName))
    const strangers = specifiers.filter((specifier) => !/^(\.\/.*|idb-keyval|uuid)$/.test(specifier))
    expect(strangers).toEqual([])
  })

  it('names nothing of Node', () => {
    for (const text of texts())
      expect(text).not.toMatch(/['"](node:|better-sqlite3['"]|undici['"])|\brequire\(|import\.meta/)
  })

  it.each(['browser', 'worker', 'workerd', 'edge-light'])(
    'is taken by a bundler with the condition %s',
    async (condition) => {
      writeFileSync(join(packed.project, 'page.js'), "import { createClient } from 'holdfast'\ncreateClient()\n")
      const { metafile } = await build({
        entryPoints: ['page.js'],
        absWorkingDir: packed.project,
        bundle: true,
        write: false,
        metafile: true,
        format: 'esm',
        platform: 'neutral',
        conditions: [condition],
        logLevel: 'silent',
      })
      const packages = Object.keys(metafile.inputs).map((path) => path.replace(/^.*node_modules\/([^/]+)\/.*$/, '$1'))
      const strangers = packages.filter((name) => !['holdfast', 'idb-keyval', 'page.js', 'uuid'].includes(name))
      expect(strangers).toEqual([])
    },
  )
})

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type BuildOptions, build, type Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as VitePlugin } from 'vitest/config'

/**
 * `import { source } from './worker.ts?source'` gives the text of that file, bundled into one CommonJS script.
 * A worker can then be started from memory: no second file to find next to the bundle, wherever the package ends up.
 *
 * `import { source } from './page.ts?page'` gives a script for a page, bundled; of any other file its text as it is.
 */
const SUFFIX = /\?(source|page)$/
const NAMESPACE = 'inline-source'

/** How a TypeScript file is bundled, by what follows the question mark. */
const BUNDLES: Readonly<Record<string, BuildOptions>> = {
  source: { format: 'cjs', platform: 'node', target: 'node20', external: ['better-sqlite3'] },
  page: { format: 'iife', platform: 'browser', target: 'es2022', minifyWhitespace: true },
}

interface InlinedSource {
  /** The module that stands in for the import. */
  readonly module: string
  /** Every file that went into it, for watchers. */
  readonly files: readonly string[]
}

/** Wraps the text of a file into a module; TypeScript is bundled first. `path` ends in one of the suffixes. */
export async function inlineSource(path: string): Promise<InlinedSource> {
  const file = path.replace(SUFFIX, '')
  const text = await readFile(file, 'utf8')
  if (!file.endsWith('.ts')) return { module: moduleOf(text), files: [file] }
  const result = await build({
    ...BUNDLES[SUFFIX.exec(path)?.[1] ?? ''],
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    sourcemap: false,
    logLevel: 'silent',
  })
  const files = Object.keys(result.metafile.inputs).map((input) => resolve(input))
  return { module: moduleOf(result.outputFiles?.[0]?.text ?? ''), files }
}

function moduleOf(text: string): string {
  return `export const source = ${JSON.stringify(text)}\n`
}

/** For tsup. */
export function inlineSourceForEsbuild(): EsbuildPlugin {
  return {
    name: NAMESPACE,
    setup(bundler) {
      bundler.onResolve({ filter: SUFFIX }, (request) => ({
        path: resolve(request.resolveDir, request.path),
        namespace: NAMESPACE,
      }))
      bundler.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => {
        const { module, files } = await inlineSource(path)
        return { contents: module, loader: 'js', watchFiles: [...files] }
      })
    },
  }
}

/** For vitest. */
export function inlineSourceForVite(): VitePlugin {
  const prefix = `\0${NAMESPACE}:`
  return {
    name: NAMESPACE,
    enforce: 'pre',
    resolveId(id, importer) {
      if (!SUFFIX.test(id)) return null
      const from = importer === undefined ? process.cwd() : dirname(importer)
      // Without the question mark: what ends in `.css?…` Vite takes for a style sheet, and changes.
      return prefix + resolve(from, id).replace('?', '!')
    },
    async load(id) {
      if (!id.startsWith(prefix)) return null
      const { module, files } = await inlineSource(id.slice(prefix.length).replace('!', '?'))
      for (const file of files) this.addWatchFile(file)
      return module
    },
  }
}

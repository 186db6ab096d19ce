import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { build, type Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as VitePlugin } from 'vitest/config'

/**
 * `import { source } from './worker.ts?source'` gives the text of that file, bundled into one CommonJS script.
 * A worker can then be started from memory: no second file to find next to the bundle, wherever the package ends up.
 */
const SUFFIX = '?source'
const NAMESPACE = 'inline-source'

interface InlinedSource {
  /** The module that stands in for the import. */
  readonly module: string
  /** Every file that went into it, for watchers. */
  readonly files: readonly string[]
}

/** Bundles one TypeScript file for Node and wraps the text into a module. */
export async function inlineSource(file: string): Promise<InlinedSource> {
  await readFile(file)
  const result = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['better-sqlite3'],
    minify: false,
    sourcemap: false,
    logLevel: 'silent',
  })
  const text = result.outputFiles[0]?.text ?? ''
  const files = Object.keys(result.metafile.inputs).map((input) => resolve(input))
  return { module: `export const source = ${JSON.stringify(text)}\n`, files }
}

/** For tsup. */
export function inlineSourceForEsbuild(): EsbuildPlugin {
  return {
    name: NAMESPACE,
    setup(bundler) {
      bundler.onResolve({ filter: /\?source$/ }, (request) => ({
        path: resolve(request.resolveDir, request.path.slice(0, -SUFFIX.length)),
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
      if (!id.endsWith(SUFFIX)) return null
      const from = importer === undefined ? process.cwd() : dirname(importer)
      return prefix + resolve(from, id.slice(0, -SUFFIX.length))
    },
    async load(id) {
      if (!id.startsWith(prefix)) return null
      const { module, files } = await inlineSource(id.slice(prefix.length))
      for (const file of files) this.addWatchFile(file)
      return module
    },
  }
}

import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { inject } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Door of the package -> its file in the browser build: `holdfast/indexeddb` -> `indexeddb/index.js`. */
export const doors: ReadonlyMap<string, string> = new Map(
  inject('browserEntries').map((entry) => [join('holdfast', entry, '..'), `${entry}.js`]),
)

/** The packages that the build leaves for others to find. */
export const packages: readonly string[] = Object.keys(manifest.dependencies).filter((name) => name !== 'undici')

const shared = {
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  absWorkingDir: ROOT,
  logLevel: 'error',
} satisfies BuildOptions

/** A module of a package, whole. */
export async function packageScript(name: string): Promise<string> {
  return textOf(await build({ ...shared, stdin: { contents: `export * from '${name}'`, resolveDir: ROOT } }))
}

/** The driver; the library stays outside of it, for the page's import map to find. */
export async function driverScript(): Promise<string> {
  const entry = fileURLToPath(new URL('./page-driver.ts', import.meta.url))
  return textOf(await build({ ...shared, entryPoints: [entry], plugins: [doorsOutside()] }))
}

/** A script and all that it imports as one file, as bundlers make it: for what knows no import map. */
export async function bundled(contents: string): Promise<string> {
  return textOf(await build({ ...shared, stdin: { contents, resolveDir: ROOT }, plugins: [doorsInside()] }))
}

/** `../../../src/indexeddb/index.ts` means `holdfast/indexeddb` in the page. */
function doorsOutside(): Plugin {
  return {
    name: 'doors-outside',
    setup(bundler) {
      bundler.onResolve({ filter: /\/src\/(.*\/)?index\.ts$/ }, ({ path }) => ({
        path: path.replace(/^.*\/src\/(.*?)\/?index\.ts$/, 'holdfast/$1').replace(/\/$/, ''),
        external: true,
      }))
    },
  }
}

function doorsInside(): Plugin {
  return {
    name: 'doors-inside',
    setup(bundler) {
      bundler.onResolve({ filter: /^holdfast(\/|$)/ }, ({ path }) => ({
        path: resolve(inject('packageUnderTest'), doors.get(path) ?? path),
      }))
      // The build lies outside of the project, so its packages are looked for from here.
      bundler.onResolve({ filter: new RegExp(`^(${packages.join('|')})$`) }, ({ path, pluginData }) =>
        pluginData === 'again'
          ? undefined
          : bundler.resolve(path, { resolveDir: ROOT, kind: 'import-statement', pluginData: 'again' }),
      )
    },
  }
}

function textOf({ outputFiles }: { outputFiles?: { text: string }[] }): string {
  return outputFiles?.[0]?.text ?? ''
}

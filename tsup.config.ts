import { defineConfig, type Options } from 'tsup'
import { writeEsmDoors } from './test/bundling/esm-doors.ts'
import { externalLibraries } from './test/bundling/external-libraries.ts'
import { inlineSourceForEsbuild } from './test/bundling/inline-source.ts'
import { writeLicences } from './test/bundling/licences.ts'

/** One entry per public door: name in dist/ -> file. test/architecture compares them with the `exports` map. */
export const nodeEntries = {
  index: 'src/index.ts',
  'indexeddb/index': 'src/indexeddb/index.ts',
  'service-worker/index': 'src/service-worker/index.ts',
  'server/index': 'src/server/index.ts',
  'server/adapter/index': 'src/server/adapter/index.ts',
  'server/sqlite/index': 'src/server/sqlite/index.ts',
  'server/postgres/index': 'src/server/postgres/index.ts',
  'server/node/index': 'src/server/node/index.ts',
  'server/express/index': 'src/server/express/index.ts',
  'server/fastify/index': 'src/server/fastify/index.ts',
  'server/hono/index': 'src/server/hono/index.ts',
  'sqlite/index': 'src/sqlite/index.ts',
  'postgres/index': 'src/postgres/index.ts',
  'opentelemetry/index': 'src/opentelemetry/index.ts',
  'diagnostics-channel/index': 'src/diagnostics-channel/index.ts',
  'testing/index': 'src/testing/index.ts',
  'inspector/index': 'src/inspector/index.ts',
}

/** The command line: no door, but it shares the chunks of the doors. */
const commandLineEntries = { 'cli/main': 'src/cli/main.ts' }

/** What is bundled with it. Their licences stand beside them. */
const LIBRARIES = ['commander', 'cli-table3', 'nanospinner', 'picocolors']

/** The doors that differ in a browser; built into dist/browser/. */
export const browserEntries = {
  index: 'src/index.ts',
  'indexeddb/index': 'src/indexeddb/index.ts',
  'service-worker/index': 'src/service-worker/index.ts',
  'opentelemetry/index': 'src/opentelemetry/index.ts',
}

/** `Symbol.asyncDispose`, for programs whose `lib` does not have it and that have no @types/node. */
const types = { banner: '/// <reference lib="esnext.disposable" />' }

const shared: Options = {
  dts: types,
  // Shared chunks keep one copy of every class, so that `instanceof` holds from door to door.
  splitting: true,
  treeshake: true,
  // The code is not minified, so that a stack trace leads to something one can read without maps.
  sourcemap: false,
  clean: false,
  // A builtin that finds its way into the browser build is to be seen as one.
  removeNodeProtocol: false,
  esbuildPlugins: [inlineSourceForEsbuild()],
}

const node: Options = {
  ...shared,
  name: 'node',
  entry: { ...nodeEntries, ...commandLineEntries },
  dts: { ...types, entry: nodeEntries },
  esbuildPlugins: [inlineSourceForEsbuild(), externalLibraries()],
  outDir: 'dist',
  // Node has one copy of the code, which `import` and `require` share; see docs/decisions/0019-what-the-package-carries.md.
  format: ['cjs'],
  onSuccess: async () => writeEsmDoors('dist', Object.keys(nodeEntries)),
  platform: 'node',
  target: 'node20',
  esbuildOptions(options) {
    options.define = { ...options.define, 'import.meta.url': 'importMetaUrl' }
    options.inject = [...(options.inject ?? []), './test/bundling/import-meta-url.js']
  },
}

const browser: Options = {
  ...shared,
  name: 'browser',
  entry: browserEntries,
  outDir: 'dist/browser',
  format: ['esm'],
  platform: 'browser',
  target: 'es2022',
  esbuildOptions(options) {
    options.conditions = ['browser']
  },
}

const libraries: Options = {
  name: 'libraries',
  entry: { 'cli/libraries': 'src/cli/libraries.ts' },
  outDir: 'dist',
  format: ['cjs'],
  platform: 'node',
  target: 'node20',
  minify: true,
  noExternal: LIBRARIES,
  // cli-table3 asks for it when it is to use colours, which it is told not to.
  external: [/^@colors\//],
  onSuccess: async () => writeLicences('dist/cli/LICENCES.txt', LIBRARIES),
}

export default defineConfig([node, browser, libraries])

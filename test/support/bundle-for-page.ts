import { build } from 'esbuild'

/** What a page would carry of this program: minified, and with the browser's build of everything. */
export async function bundleForPage(contents: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: '.' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['browser'],
    target: 'es2022',
    logLevel: 'silent',
  })
  return outputFiles[0]?.contents ?? new Uint8Array()
}

import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import { webpack } from 'webpack'

/** Makes one file of `server.mjs`, or of `server.cjs`, and its packages, as frameworks do. The name of the file, in the folder. */
export type ServerBundler = (folder: string) => Promise<string>

export const serverBundlers: Readonly<Record<string, ServerBundler>> = {
  async 'Vite for a server'(folder) {
    await vite({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      ssr: { noExternal: true, target: 'node' },
      build: { ssr: 'server.mjs', outDir: 'vite', rollupOptions: { output: { entryFileNames: 'server.mjs' } } },
    })
    return 'vite/server.mjs'
  },
  async 'webpack, as Next has it'(folder) {
    const packer = webpack({
      mode: 'production',
      target: 'node20',
      context: folder,
      entry: './server.mjs',
      experiments: { outputModule: true },
      output: { path: join(folder, 'webpack'), filename: 'server.mjs', module: true, chunkFormat: 'module' },
    })
    const failed = await new Promise<unknown>((resolve, reject) => {
      packer.run((error, stats) => (error ? reject(error) : resolve(stats?.toJson().errors?.[0]?.message)))
    })
    await new Promise((closed) => packer.close(closed))
    if (failed !== undefined) throw new Error(String(failed))
    return 'webpack/server.mjs'
  },
  async esbuild(folder) {
    await esbuild({
      entryPoints: ['server.cjs'],
      absWorkingDir: folder,
      outfile: 'esbuild/server.cjs',
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
    })
    return 'esbuild/server.cjs'
  },
}

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

/** As wrangler bundles a Worker. */
const WRANGLER: BuildOptions = {
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  conditions: ['workerd', 'worker', 'browser'],
}

const CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "api", worker = .api)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.bundle.mjs")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "api", service = "api")]
);
const api :Workerd.Worker = (
  modules = [(name = "api", esModule = embed "api.mjs")],
  compatibilityDate = "2026-01-01"
);
`

/** Serves worker.mjs of that folder in workerd, asks it once, and ends it. */
export async function askWorker(workerd: string, folder: string): Promise<unknown> {
  const outfile = 'worker.bundle.mjs'
  await build({ ...WRANGLER, entryPoints: ['worker.mjs'], outfile, absWorkingDir: folder })
  writeFileSync(join(folder, 'config.capnp'), CONFIG)
  const child = spawn(workerd, ['serve', 'config.capnp', '--control-fd=1'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const port = await new Promise<number>((resolve, reject) => {
      child.once('exit', () => reject(new Error('workerd ended before it listened')))
      child.stdout.on('data', (line: Buffer) => resolve(JSON.parse(String(line)).port))
    })
    return await (await fetch(`http://127.0.0.1:${port}/`)).json()
  } finally {
    child.kill('SIGKILL')
  }
}

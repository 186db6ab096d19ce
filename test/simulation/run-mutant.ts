import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build, type Plugin } from 'esbuild'
import type { FailedHistory } from '../../src/testing/simulation/simulate.ts'
import type { Mutation } from './mutations.ts'

interface Stretch extends Pick<Mutation, 'from' | 'within'> {
  /** Nothing may go on when its test is over. */
  readonly signal?: AbortSignal | undefined
}

/** Bundles the simulation with the product as it is but for one place, and lets histories happen from a seed on until one fails. */
export async function runMutant(
  mutation: Pick<Mutation, 'file' | 'find' | 'replace'> | undefined,
  { from, within, signal }: Stretch,
): Promise<{ readonly took: number; readonly failed: readonly FailedHistory[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-mutant-'))
  try {
    const outfile = join(folder, 'mutant.mjs')
    const plugins = mutation ? [applied(mutation)] : []
    const entry = resolve('test/simulation/mutant.ts')
    await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', plugins })
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, String(from), String(within)], {
      maxBuffer: 1e8,
      signal,
    })
    return JSON.parse(stdout)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function applied({ file, find, replace }: Pick<Mutation, 'file' | 'find' | 'replace'>): Plugin {
  const path = resolve(file)
  return {
    name: 'mutation',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async (args) => {
        if (args.path !== path) return undefined
        const source = await readFile(path, 'utf8')
        const pieces = source.split(find)
        if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} places that say: ${find}`)
        return { contents: pieces.join(replace), loader: 'ts' }
      })
    },
  }
}

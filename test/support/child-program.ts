import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { inlineSourceForEsbuild } from '../bundling/inline-source.ts'
import { LineProcess } from './child-process.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
/** Below the project, so that the packages which stay outside of the bundle are found. */
const FOLDER = fileURLToPath(new URL(`../../node_modules/.cache/holdfast-children/${process.pid}/`, import.meta.url))

const programs = new Map<string, Promise<string>>()

/** Bundles a program, named from this folder, with the library's source: it starts fast, and never from a stale build. */
export function programFile(name: string): Promise<string> {
  const made = programs.get(name) ?? bundle(name)
  programs.set(name, made)
  return made
}

async function bundle(name: string): Promise<string> {
  if (programs.size === 0) process.once('exit', () => rmSync(FOLDER, { recursive: true, force: true }))
  mkdirSync(FOLDER, { recursive: true })
  const outfile = join(FOLDER, `${basename(name)}.mjs`)
  await build({
    entryPoints: [join(HERE, `${name}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    plugins: [inlineSourceForEsbuild()],
    logLevel: 'error',
  })
  return outfile
}

/** A program as a process; `input` reaches it as its one argument, in JSON. */
export async function startProgram(
  name: string,
  input: unknown,
  { nodeOptions = [] }: { readonly nodeOptions?: readonly string[] } = {},
): Promise<LineProcess> {
  return new LineProcess([...nodeOptions, '--enable-source-maps', await programFile(name), JSON.stringify(input)])
}

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Licences that ask for nothing but their own text. */
const ALLOWED = ['MIT', 'ISC']

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The licences of the packages and of all that they need, in one file beside the code that has them inside. */
export function writeLicences(path: string, names: readonly string[]): void {
  const found = new Map<string, string>()
  for (const name of names) collect(found, name, process.cwd())
  const texts = [...found].sort(([a], [b]) => a.localeCompare(b)).map(([title, text]) => `${title}\n\n${text.trim()}\n`)
  writeFileSync(path, `libraries.cjs contains these packages.\n\n${texts.join(`\n${'-'.repeat(72)}\n\n`)}`)
}

function collect(found: Map<string, string>, name: string, from: string): void {
  const folder = folderOf(name, from)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const title = `${manifest.name} ${manifest.version} (${manifest.license})`
  if (found.has(title)) return
  if (!ALLOWED.includes(manifest.license)) throw new Error(`${title} is not to be bundled: its licence asks for more`)
  found.set(title, licenceIn(folder))
  for (const dependency of Object.keys(manifest.dependencies ?? {})) collect(found, dependency, folder)
}

/** Not by `require.resolve` of its package.json, which not every package exports. */
function folderOf(name: string, from: string): string {
  const paths = createRequire(join(from, 'package.json')).resolve.paths(name) ?? []
  const folder = paths.map((path) => join(path, name)).find((path) => isThere(join(path, 'package.json')))
  if (folder === undefined) throw new Error(`${name} is not installed beside ${dirname(from)}`)
  return folder
}

function licenceIn(folder: string): string {
  const file = ['LICENSE', 'license', 'LICENSE.md', 'LICENSE-MIT.txt', 'LICENSE.txt'].find((name) =>
    isThere(join(folder, name)),
  )
  if (file === undefined) throw new Error(`${folder} has no licence text`)
  return readFileSync(join(folder, file), 'utf8')
}

function isThere(path: string): boolean {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}

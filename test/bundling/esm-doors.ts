import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, resolve } from 'node:path'

/**
 * For each entry in CommonJS, an ES module that re-exports it, with its types. A class that a program imports is then
 * the same as the one that another package requires, and `instanceof` holds between the two.
 */
export function writeEsmDoors(folder: string, entries: readonly string[]): void {
  const require = createRequire(import.meta.url)
  for (const entry of entries) {
    const path = resolve(folder, entry)
    const target = `./${basename(entry)}.cjs`
    const names = Object.keys(require(`${path}.cjs`) as object).sort()
    // By name: bundlers cannot see through `export *` of a CommonJS module.
    writeFileSync(`${path}.js`, `export {\n${names.map((name) => `  ${name},\n`).join('')}} from '${target}'\n`)
    writeFileSync(`${path}.d.ts`, `export * from '${target}'\n`)
  }
}

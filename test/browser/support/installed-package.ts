import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { inject } from 'vitest'
import { closeAtEnd } from './closing.ts'
import { packages } from './page-scripts.ts'

/** A project that has the package installed as a page's bundler sees it, and one file: `main.js`. */
export function projectWith(main: string): string {
  const project = mkdtempSync(join(tmpdir(), 'holdfast-bundled-'))
  closeAtEnd(async () => rmSync(project, { recursive: true, force: true }))
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'holdfast'), { recursive: true })
  cpSync('package.json', join(modules, 'holdfast/package.json'))
  cpSync(inject('packageUnderTest'), join(modules, 'holdfast/dist/browser'), { recursive: true })
  for (const name of packages) symlinkSync(resolve('node_modules', name), join(modules, name))
  writeFileSync(join(project, 'main.js'), main)
  return project
}

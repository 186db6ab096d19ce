import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

export const run = promisify(execFile)

export interface PackedPackage {
  /** What would be published. */
  readonly tarball: string
  /** A project that has it installed, and nothing of this repository in reach but the packages it depends on. */
  readonly project: string
  /** Has the project have another package of this repository. */
  link(name: string): void
  remove(): void
}

/** Packs the built package and installs the tarball into a new folder, without a network. */
export async function packPackage(): Promise<PackedPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-package-'))
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder])
  const [packed] = JSON.parse(stdout) as { filename: string }[]
  const tarball = join(folder, packed?.filename ?? '')
  const project = join(folder, 'project')
  const installed = join(project, 'node_modules', 'holdfast')
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  for (const name of [...dependencyNames(installed), '@types/node', 'undici-types']) link(project, name)
  return {
    tarball,
    project,
    link: (name) => link(project, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function dependencyNames(installed: string): string[] {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, object>
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
}

function link(project: string, name: string): void {
  const path = join(project, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(resolve('node_modules', name), path)
}

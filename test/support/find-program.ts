import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A program that tests need and that is no package of npm. */
export interface NeededProgram {
  readonly title: string
  /** Of the environment: says where it is. */
  readonly variable: string
  readonly names: readonly string[]
  /** Where it is on systems that keep it out of PATH. */
  readonly elsewhere: readonly string[]
  readonly debianPackage: string
  /** Said where there is none. */
  readonly missing: string
}

export interface ProgramSearch {
  readonly env: Readonly<Record<string, string | undefined>>
  /** May this process install packages? */
  readonly isRoot: boolean
}

/**
 * The path of a program: what its variable says, or one that is installed, or, for root on Debian, one that is installed
 * now. Rejects with what to do about it, where there is none.
 */
export async function findProgram(program: NeededProgram, search: ProgramSearch = here()): Promise<string> {
  const { variable } = program
  const told = search.env[variable]
  if (told && !isProgram(told)) throw new Error(`${variable} is ${told}, but there is no program of that name`)
  const found = told || installed(program, search) || (await install(program, search))
  if (found) return found
  throw new Error(program.missing)
}

function here(): ProgramSearch {
  return { env: process.env, isRoot: process.getuid?.() === 0 }
}

function installed({ names, elsewhere }: NeededProgram, { env }: ProgramSearch): string | undefined {
  return names.map((name) => inPath(name, env)).find(Boolean) ?? elsewhere.find(isProgram)
}

function inPath(name: string, env: ProgramSearch['env']): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Debian's, or undefined where that can't be had this way. */
async function install(program: NeededProgram, search: ProgramSearch): Promise<string | undefined> {
  const aptGet = inPath('apt-get', search.env)
  if (!search.isRoot || !aptGet) return undefined
  console.log(`No ${program.title} found: installing it with apt-get`)
  // Another run of the tests may be doing the same: apt-get then waits for its lock.
  const apt = (...args: string[]): Promise<unknown> =>
    run(aptGet, ['--quiet', '--option', 'DPkg::Lock::Timeout=600', ...args], {
      env: { ...search.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 2 ** 26,
    })
  const get = (): Promise<unknown> => apt('install', '--yes', '--no-install-recommends', program.debianPackage)
  await get().catch(async () => {
    // A fresh machine has no list of packages. If the list can't be had, the second try says why.
    await apt('update').catch(() => {})
    await get()
  })
  return installed(program, search)
}

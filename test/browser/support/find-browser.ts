import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** Where it is on systems that keep programs out of PATH. */
const ELSEWHERE = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

export interface BrowserSearch {
  readonly env: Readonly<Record<string, string | undefined>>
  /** May this process install packages? */
  readonly isRoot: boolean
}

/**
 * The path of a Chromium or Chrome: what CHROME_PATH says, or one that is installed, or, for root on Debian, one that
 * is installed now. Rejects with what to do about it, where there is none.
 */
export async function findBrowser(search: BrowserSearch = here()): Promise<string> {
  const { CHROME_PATH: told } = search.env
  if (told && !isProgram(told)) throw new Error(`CHROME_PATH is ${told}, but there is no program of that name`)
  const found = told || installed(search) || (await install(search))
  if (found) return found
  throw new Error(
    'The browser tests need Chromium or Chrome: install it (Debian: apt-get install chromium), or set CHROME_PATH to its program',
  )
}

function here(): BrowserSearch {
  return { env: process.env, isRoot: process.getuid?.() === 0 }
}

function installed({ env }: BrowserSearch): string | undefined {
  return NAMES.map((name) => inPath(name, env)).find(Boolean) ?? ELSEWHERE.find(isProgram)
}

function inPath(name: string, env: BrowserSearch['env']): string | undefined {
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

/** Debian's Chromium, or undefined where that can't be had this way. */
async function install(search: BrowserSearch): Promise<string | undefined> {
  const aptGet = inPath('apt-get', search.env)
  if (!search.isRoot || !aptGet) return undefined
  console.log('No Chromium found: installing it with apt-get')
  // Another run of the tests may be doing the same: apt-get then waits for its lock.
  const apt = (...args: string[]): Promise<unknown> =>
    run(aptGet, ['--quiet', '--option', 'DPkg::Lock::Timeout=600', ...args], {
      env: { ...search.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 2 ** 26,
    })
  const get = (): Promise<unknown> => apt('install', '--yes', '--no-install-recommends', 'chromium')
  await get().catch(async () => {
    // A fresh machine has no list of packages. If the list can't be had, the second try says why.
    await apt('update').catch(() => {})
    await get()
  })
  return installed(search)
}

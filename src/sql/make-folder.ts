import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Makes a folder for the eyes of this user only, and those above it that are missing. One by one: Node's recursive
 * mkdir spins for ever where a file system (`/proc`) says ENOENT of a folder whose parent is there.
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let folder = path; !existsSync(folder) && folder !== dirname(folder); folder = dirname(folder)) {
    missing.unshift(folder)
  }
  for (const folder of missing) makeOne(folder)
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
    if (basename(folder) === '.holdfast') keepOutOfGit(folder)
  } catch (error) {
    // Another process may have been faster.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** The default folder stands in the working directory, which often is a repository; requests and answers do not belong there. */
function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n')
  } catch {
    // The database can do without it, and says itself what is wrong with the disk.
  }
}

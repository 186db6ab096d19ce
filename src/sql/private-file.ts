import { closeSync, existsSync, linkSync, lstatSync, openSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorageError } from '../errors/classes.ts'
import { newRunnerId } from '../foundation/identity.ts'
import { makeFolder } from './make-folder.ts'

/**
 * Makes the file readable by its owner only (SQLite gives the same mode to -wal and -shm) and its folder if
 * there is none. The file is made under another name and linked: closing a descriptor of a database that this
 * process already has open would drop the locks of all its connections.
 */
export function createPrivately(path: string, component: string): void {
  makeFolder(dirname(path))
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StorageError(`The ${component} ${path} cannot be opened: it is a folder`)
  }
  if (existsSync(path)) return
  refuseDanglingLink(path, component)
  const draft = `${path}.${newRunnerId()}`
  closeSync(openSync(draft, 'wx', 0o600))
  try {
    linkSync(draft, path)
  } catch {
    // Another process was faster, or the file system has no links.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  } finally {
    rmSync(draft)
  }
}

/** Somebody else may have put it there, so that we make a file at a place of their choice; or a disk is not mounted. */
function refuseDanglingLink(path: string, component: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return
  throw new StorageError(
    `The ${component} ${path} cannot be opened: it is a link to ${readlinkSync(path)}, which does not exist. Make that file ` +
      'first, or remove the link',
  )
}

/** Files that were warned of, by their path. */
const warned = new Set<string>()

/** A file that was there before keeps its mode. To be called on the main thread, whose warnings the application sees. */
export function warnIfShared(path: string, component: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  // Windows has other permissions, and reports bits that mean nothing.
  if ((mode & 0o077) === 0 || process.platform === 'win32' || warned.has(path)) return
  warned.add(path)
  const octal = (mode & 0o777).toString(8).padStart(4, '0')
  process.emitWarning(
    `The ${component} ${path} can be opened by other users of this machine (mode ${octal}): use chmod 600, also for its -wal and -shm`,
    { type: 'HoldfastWarning' },
  )
}

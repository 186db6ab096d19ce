import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { threadId } from 'node:worker_threads'
import { newRunnerId } from './identity.ts'
import { runnersHere } from './runners-here.ts'

/** A name for one runner of this process, and how to say that it is over. */
export interface ProcessOwner {
  readonly owner: string
  leave(): void
}

/** An owner is `host|pid|thread|uuid`. */
export function newProcessOwner(): ProcessOwner {
  const id = newRunnerId()
  runnersHere().add(id)
  return { owner: [host(), process.pid, threadId, id].join('|'), leave: () => void runnersHere().delete(id) }
}

/**
 * On one host a process id shows whether its process still runs, so that a takeover need not wait for the lease of a
 * dead one. Anything doubtful counts as alive: the lease decides.
 */
export function isDeadOwner(owner: string): boolean {
  const [itsHost, pid, thread, id] = owner.split('|')
  if (itsHost !== host() || pid === undefined || thread === undefined || id === undefined) return false
  if (Number(pid) !== process.pid) return !isRunning(Number(pid))
  // Our own process id, but a runner that never was here: a restarted container gets the same number again.
  return Number(thread) === threadId && !runnersHere().has(id)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // Anything but "no such process" (no permission, say) means that there is one.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Ended, but its parent (in a container often one that never does) has not taken note: the number is still there. */
function isZombie(pid: number): boolean {
  const [state] = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
    .split(') ')
    .slice(-1)
  return state?.startsWith('Z') === true
}

let knownHost: string | undefined

/** Where process ids mean the same: one boot of one machine and, in containers, one process namespace. */
function host(): string {
  knownHost ??= [
    hostname(),
    tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    tryRead(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .join('/')
    .replaceAll('|', '_')
  return knownHost
}

function tryRead(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

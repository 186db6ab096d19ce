import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { threadId } from 'node:worker_threads'
import { newRunnerId } from '../../foundation/identity.ts'
import type { Coordination } from './port.ts'
import { runnersHere } from './runners-here.ts'

/**
 * An owner is `host|pid|thread|uuid`. On one host a process id tells whether its process still runs, so a
 * dead runner's operations need not wait for its lease. Anything doubtful counts as alive: the lease decides.
 */
export function processLiveness(): Coordination {
  const id = newRunnerId()
  const owner = [host(), process.pid, threadId, id].join('|')
  runnersHere().add(id)
  return {
    owner,
    isDead,
    onWake: () => () => {},
    leave: () => void runnersHere().delete(id),
  }
}

function isDead(owner: string): boolean {
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

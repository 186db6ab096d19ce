import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { threadId } from 'node:worker_threads'
import { newRunnerId } from './identity.ts'
import { nodeDigest } from './node-digest.ts'
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

function host(): string {
  knownHost ??= hostOf({
    platform: process.platform,
    hostname: hostname(),
    bootId: tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    processNamespace: tryRead(() => readlinkSync('/proc/self/ns/pid')),
    hardware: Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ mac }) => mac)),
  })
  return knownHost
}

/** What tells one place of process ids from another. */
export interface HostFacts {
  readonly platform: string
  readonly hostname: string
  /** One boot of one machine; empty where the platform has none. */
  readonly bootId: string
  /** In containers each has its own: process 1 of one is not process 1 of another. Empty where it cannot be read. */
  readonly processNamespace: string
  /** The addresses of the network interfaces. */
  readonly hardware: readonly string[]
}

/**
 * Names the place where process ids mean the same: one boot of one machine and, in containers, one process namespace. A
 * journal may be shared by many hosts, and containers share hostnames and process ids. Where that cannot be told, the
 * name is one of its own: then no process is judged by its id, and the lease decides.
 */
export function hostOf(facts: HostFacts): string {
  return [facts.hostname, ...placeOf(facts)].join('/').replaceAll('|', '_')
}

function placeOf({ platform, bootId, processNamespace, hardware }: HostFacts): readonly string[] {
  if (bootId && processNamespace) return [bootId, processNamespace]
  const addresses = [...new Set(hardware)].filter((mac) => /[1-9a-f]/i.test(mac)).sort()
  // Without its /proc, Linux says nothing of containers.
  if (platform === 'linux' || addresses.length === 0) return [newRunnerId()]
  return [nodeDigest(addresses, null) as string]
}

function tryRead(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

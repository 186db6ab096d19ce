import { StorageError } from '../../../errors/classes.ts'
import { waitAtMost } from '../../../foundation/wait.ts'
import type { PeerMessage } from '../../coordination/port.ts'
import type { OperationRecord } from '../../operation/record.ts'
import type { Emitter } from '../emitter.ts'
import type { Engine } from '../engine.ts'
import { LEASE_MS } from './lease-keeper.ts'
import { Pruner } from './prune.ts'

/** Any resume, in whichever process, would have taken up by then an operation that no runner holds. */
const OVERDUE_MS = 10_000
/** More are not counted. */
const MOST_COUNTED = 20

/** What a client does beside its calls: pruning, looking for orphans, and knowing what still runs in the background. */
export class Upkeep {
  /** Has this client ever begun to resume? */
  isAttended = false
  /** How often the namespace was forgotten: a call from before that must not be accepted after it. */
  forgets = 0
  /** When this client last heard that it was (epoch ms). */
  forgottenAt = Number.NEGATIVE_INFINITY
  /** How many of these are under way: meanwhile nothing of the namespace is taken up. */
  forgetting = 0
  readonly pruner = new Pruner()
  readonly #events: Emitter | undefined
  readonly #warn: ((sentence: string) => void) | undefined
  readonly #background = new Set<Promise<unknown>>()
  #hasLooked = false

  constructor(events: Emitter | undefined, warn: ((sentence: string) => void) | undefined) {
    this.#events = events
    this.#warn = warn
  }

  /** Work that outlives its call; `idle` waits for it. */
  track(work: Promise<unknown>): void {
    this.#background.add(work)
    const done = (): void => void this.#background.delete(work)
    work.then(done, done)
  }

  async idle(): Promise<void> {
    while (this.#background.size > 0) await Promise.allSettled(this.#background)
  }

  /** The journal failed where no caller is left to be told. */
  reportFailure(key: string | undefined, error: unknown): void {
    const known = error instanceof Error ? error : new StorageError(String(error), { effect: 'unknown' })
    this.#events?.emit({ type: 'journal.failed', error: known, ...(key === undefined ? {} : { key }) })
  }

  /** On the way of other work: drops what has outlived its retention, and looks once for what an earlier run has left. */
  sweep(engine: Engine): void {
    this.pruner.sweep(engine)
    if (this.#hasLooked) return
    this.#hasLooked = true
    if (this.isAttended) return
    this.track(this.#reportUnattended(engine).catch((error: unknown) => this.reportFailure(undefined, error)))
  }

  /** Says that operations of a run that is over are pending, and that this client does not resume them. */
  async #reportUnattended({ keeper, options, clock, coordination }: Engine): Promise<void> {
    const now = clock.now()
    const query = { namespace: options.namespace, status: 'pending', after: 0, limit: MOST_COUNTED } as const
    const { records } = await keeper.list(query)
    const owners = records.flatMap(({ record }) => record.lease?.owner ?? [])
    const dead = owners.length > 0 ? await coordination.findDead([...new Set(owners)]) : []
    const left = records.filter(({ record }) => isOrphan(record, { dead, now }))
    const [oldest] = left
    if (!oldest || this.isAttended) return
    this.#events?.emit({ type: 'journal.unattended', operations: left.length, oldestAt: oldest.record.acceptedAt })
    const count = left.length < MOST_COUNTED ? String(left.length) : `${left.length} or more`
    this.#warn?.(
      `${count} operations of an earlier run are pending in the journal, and this client does not resume them. ` +
        'Call client.resume({ continuous: true }), or look at them with client.operations().',
    )
  }
}

function isOrphan(
  { lease, dueAt, notBefore }: OperationRecord,
  { dead, now }: { readonly dead: readonly string[]; readonly now: number },
): boolean {
  if (lease && dead.includes(lease.owner)) return true
  return Math.max(dueAt, notBefore, lease?.until ?? 0) + OVERDUE_MS < now
}

/** What another runner said of an origin, or of an operation that is waited for here. */
export function receivePeerMessage(
  { gates, leases, live, options, upkeep, clock }: Engine,
  { is, namespace, key, level, lane }: PeerMessage,
): void {
  if (is === 'level') gates.restore(key, level)
  if (namespace !== options.namespace) return
  if (is === 'forgotten') {
    upkeep.forgottenAt = clock.now()
    leases.checkAll()
    for (const follower of live.followers) follower.notify()
  }
  if (is !== 'settled') return
  const running = live.byKey(key)
  running?.notify()
  // Settled elsewhere while its request is on the wire here. The message alone proves nothing.
  if (running?.record.status === 'pending') leases.check(running)
  live.notifyFollowers(key)
  live.notifyLane(lane)
}

/** Waits until nothing is running, delivering or being written. */
export async function flushEngine({ live, upkeep, keeper }: Engine): Promise<void> {
  while (live.size + live.callers.size > 0) {
    const calls = [...live.callers].map(({ ended }) => ended.catch(() => {}))
    await Promise.all([...calls, ...live.all().map(({ finished }) => finished)])
  }
  await upkeep.idle()
  await keeper.idle()
}

export interface CloseTerms {
  /** How long attempts in flight and handlers are waited for. Undefined: as long as a lease, and no attempt is aborted. */
  readonly graceMs: number | undefined
  /** The passes of a resume that are under way. */
  readonly passes: Promise<unknown>
}

/**
 * Starts no further attempt and releases the lease of everything that waits, at once. Attempts that are under way may come
 * home within the grace time; what is left then is aborted, and its lease released. So is that of a settlement whose
 * handlers have not ended.
 */
export async function closeEngine(engine: Engine, { graceMs, passes }: CloseTerms): Promise<void> {
  const { live, clock, coordination, transport, upkeep } = engine
  upkeep.pruner.stop()
  for (const caller of [...live.callers]) caller.leaveIfRefused()
  for (const operation of [...live.all(), ...live.followers]) operation.stop({ because: 'closing' })
  // A handler that hangs, or that waits for this very close, holds the client no longer than this.
  const flushed = passes.then(() => flushEngine(engine))
  await waitAtMost<unknown>(clock, flushed, { ms: graceMs ?? LEASE_MS, late: () => undefined }).catch(() => {})
  if (graceMs !== undefined) await abortOverdue(engine)
  await waitAtMost(clock, engine.handlers.abandon(), { ms: RELEASE_MS, late: () => undefined })
  coordination.leave()
  await transport.close?.()
}

/** How long a journal may take to release the leases of what was aborted or abandoned. */
const RELEASE_MS = 1000

async function abortOverdue({ live, clock }: Engine): Promise<void> {
  const overdue = live.all()
  for (const operation of overdue) operation.stopOverdue()
  const released = Promise.all(overdue.map(({ finished }) => finished))
  if (overdue.length > 0) await waitAtMost<unknown>(clock, released, { ms: RELEASE_MS, late: () => undefined })
}

/** Log-out: stops what is running here and drops everything that the namespace holds. Other tabs and processes are told. */
export async function forgetAll({ upkeep, live, keeper, options, coordination, clock }: Engine): Promise<number> {
  const { namespace } = options
  upkeep.forgets++
  upkeep.forgottenAt = clock.now()
  upkeep.forgetting++
  try {
    for (const caller of [...live.callers]) caller.leaveIfRefused()
    const running = live.all()
    for (const operation of running) operation.stop({ because: 'cancelled' })
    await keeper.open()
    await Promise.all(running.map(({ finished }) => finished))
    const count = await keeper.forget(namespace)
    coordination.notifyPeers?.({ is: 'forgotten', namespace, key: '' })
    return count
  } finally {
    upkeep.forgetting--
  }
}

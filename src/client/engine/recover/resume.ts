import type { ClaimedRecord } from '../../journal/record-keeper.ts'
import { isSettled, type OperationRecord, type SettledStatus } from '../../operation/record.ts'
import { park, release } from '../../operation/transition.ts'
import { resumeCall } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import { isOffline } from '../run/admission.ts'
import { LiveOperation } from '../run/live-operation.ts'
import { refusalToSend } from '../run/refusal-to-send.ts'
import { adopt, claimant, findDeadOwners, survey, takeOver } from './claiming.ts'
import { work } from './follow.ts'

/** How often runners that hold a lease are checked for being alive, also within a long pass. */
const CHECK_RUNNERS_EVERY_MS = 5000
/** An operation whose runner died this often while it held it is not touched again unless asked for by key. */
const DEATHS_UNTIL_PARKED = 5
/** How soon the next resume looks at what this one could not send: it may have the credentials. */
const LOOK_AGAIN_MS = 300_000

/** How the operations that a resume took up ended. `claimed` is the sum of the others. */
export type ResumeReport = { claimed: number; pending: number } & Record<SettledStatus, number>

/** What a pass knows of dead runners, and what counts as due in it. */
interface PassTerms {
  readonly dead: readonly string[]
  readonly dueBy: number
}

interface Wanted extends PassTerms {
  readonly after: number
  readonly lane?: string | undefined
  readonly limit?: number
}

/** A resume: what it has taken up, how much at once, and what became of it. */
export class Resume {
  readonly report: ResumeReport = {
    claimed: 0,
    succeeded: 0,
    rejected: 0,
    failed: 0,
    expired: 0,
    cancelled: 0,
    pending: 0,
  }
  readonly #engine: Engine
  readonly #concurrency: number
  readonly #signal: AbortSignal
  readonly #running = new Set<Promise<void>>()

  constructor(engine: Engine, concurrency: number, signal: AbortSignal) {
    this.#engine = engine
    this.#concurrency = concurrency
    this.#signal = signal
  }

  /**
   * One pass over what is pending and whose runner is gone, in the order of acceptance. It moves forward by
   * cursor and never claims more than it can start, so memory does not grow with the journal. It ends when everything
   * that is due by `dueBy` has been started; the far future takes our own delays back, never those of a server.
   */
  async pass(dueBy: number): Promise<void> {
    const engine = this.#engine
    await engine.keeper.open()
    let dead: readonly string[] = []
    let checkAt = Number.NEGATIVE_INFINITY
    for (let after = 0; ; ) {
      while (this.#running.size >= this.#concurrency) await Promise.race(this.#running)
      if (this.#isHalted) return
      const { forgets } = engine.upkeep
      if (engine.clock.now() >= checkAt) {
        const { owners } = await survey(engine)
        dead = await findDeadOwners(engine, owners)
        checkAt = engine.clock.now() + CHECK_RUNNERS_EVERY_MS
      }
      const { claimed, last } = await this.#claim({ dead, after, dueBy })
      // Claimed at the very moment at which the resume was stopped, or the namespace forgotten: free again at once.
      if (this.#signal.aborted || forgets !== engine.upkeep.forgets)
        return void (await Promise.all(claimed.map((one) => putBackUntouched(engine, one))))
      for (const one of claimed) this.#start(one, { dead, dueBy })
      if (last === after) return engine.upkeep.sweep(engine)
      after = last
    }
  }

  /** May nothing be taken up now? */
  get #isHalted(): boolean {
    return this.#signal.aborted || isOffline(this.#engine) || this.#engine.upkeep.forgetting > 0
  }

  #claim({ dead, limit = this.#concurrency - this.#running.size, ...wanted }: Wanted) {
    const { keeper, handlers, gates } = this.#engine
    return keeper.claim({
      ...claimant(this.#engine, dead),
      ...wanted,
      limit,
      deliverNames: handlers.names,
      exceptOrigins: gates.heldOrigins(),
    })
  }

  #start(claimed: ClaimedRecord, terms: PassTerms): void {
    if (adopt(this.#engine, claimed)) return
    const running: Promise<void> = this.#resumeLane(claimed, terms).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** One operation; then those behind it in its lane, whose turn it is now, one after the other. */
  async #resumeLane(first: ClaimedRecord, terms: PassTerms): Promise<void> {
    for (let one: ClaimedRecord | undefined = first; one; ) {
      this.report.claimed++
      const record: OperationRecord | undefined = await this.#resumeOne(one, terms.dead)
      const hasNext = record?.lane !== undefined && !record.holdsLane
      one = hasNext ? await this.#nextInLane({ ...terms, lane: record.lane, after: one.place }) : undefined
    }
  }

  async #resumeOne(claimed: ClaimedRecord, dead: readonly string[]): Promise<OperationRecord | undefined> {
    try {
      const record = await resumeOne(this.#engine, claimed, dead)
      this.report[record.status]++
      return record
    } catch (error) {
      this.report.pending++
      this.#engine.upkeep.reportFailure(claimed.record.key, error)
      return undefined
    }
  }

  async #nextInLane(wanted: Wanted): Promise<ClaimedRecord | undefined> {
    const engine = this.#engine
    if (this.#isHalted) return undefined
    try {
      const { forgets } = engine.upkeep
      const [next] = (await this.#claim({ ...wanted, limit: 1 })).claimed
      if (!next || !(this.#signal.aborted || forgets !== engine.upkeep.forgets))
        return next && !adopt(engine, next) ? next : undefined
      await putBackUntouched(engine, next)
    } catch (error) {
      engine.upkeep.reportFailure(undefined, error)
    }
    return undefined
  }

  /** Resolves when nothing that was taken up is running any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

/** One pass, to the end of everything that it took up. An explicit wish takes our own delays back. */
export async function resumeOnce(engine: Engine, concurrency: number, signal: AbortSignal): Promise<ResumeReport> {
  const resume = new Resume(engine, concurrency, signal)
  try {
    await engine.keeper.open()
    engine.gates.hurry()
    await resume.pass(Number.MAX_SAFE_INTEGER)
  } finally {
    await resume.idle()
  }
  return resume.report
}

/** Goes on with one operation whose lease has just been taken; returns what became of it. */
async function resumeOne(
  engine: Engine,
  claimed: ClaimedRecord,
  deadOwners: readonly string[],
): Promise<OperationRecord> {
  const record = takeOver(engine, claimed, deadOwners)
  const operation = new LiveOperation(record)
  if (isSettled(record)) {
    await engine.handlers.deliver(engine, operation)
    return operation.record
  }
  if (engine.clock.now() < record.horizonAt) {
    if (record.deaths >= DEATHS_UNTIL_PARKED) return putBack(engine, operation, 'poison')
    if (refusalToSend(engine, record) !== undefined) return putBack(engine, operation, 'auth')
  }
  engine.events?.emitFor(record, { type: 'operation.resumed', attempts: record.attemptCount })
  const call = resumeCall(engine, record)
  call.trace?.endWith(operation.finished, record)
  const finish = await work(engine, operation, call)
  await operation.delivered
  if (finish.is === 'settled' || finish.is === 'kept') return finish.record
  // Taken away, or not written down: whatever this run believes, the journal says pending.
  return { ...operation.record, status: 'pending' }
}

/** Gives a claim back as it was found. */
async function putBackUntouched({ keeper }: Engine, { record }: ClaimedRecord): Promise<void> {
  const { fence } = new LiveOperation(record)
  const { dueAt, heldBy } = record
  await keeper.commit(release(record, { dueAt, heldBy }), fence)
}

/** Leaves it pending, with the reason on it. What is poison is not taken up by any resume before its horizon. */
async function putBack(engine: Engine, operation: LiveOperation, reason: 'poison' | 'auth'): Promise<OperationRecord> {
  const { horizonAt } = operation.record
  const until = reason === 'poison' ? horizonAt : Math.min(horizonAt, engine.clock.now() + LOOK_AGAIN_MS)
  const isParked = reason === 'poison'
  const record = isParked ? park(operation.record) : release(operation.record, { dueAt: until, heldBy: reason })
  await engine.keeper.commit(record, operation.fence)
  engine.events?.emitFor(record, { type: 'operation.waiting', until, reason })
  return record
}

import { onAbort } from '../../../foundation/abort.ts'
import type { ClaimedRecord } from '../../journal/record-keeper.ts'
import { isSettled, type OperationRecord, type SettledStatus } from '../../operation/record.ts'
import { park, release } from '../../operation/transition.ts'
import { resumeCall } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import { isOffline } from '../run/admission.ts'
import { LiveOperation, type Slot } from '../run/live-operation.ts'
import { refusalToSend } from '../run/refusal-to-send.ts'
import { adopt, claimant, dueFilter, findDeadOwners, survey, takeOver } from './claiming.ts'
import { work } from './follow.ts'
import { Slots } from './slots.ts'

/** How often runners that hold a lease are checked for being alive, also within a long pass. */
const CHECK_RUNNERS_EVERY_MS = 5000
/** An operation whose runner died this often while it held it is not touched again unless asked for by key. */
const DEATHS_UNTIL_PARKED = 5
/** How soon the next resume looks at what this one could not send: it may have the credentials. */
const LOOK_AGAIN_MS = 300_000
/** More are not claimed at once: each has its body in memory. */
const MOST_CLAIMED = 100
/** How soon a pass looks again for operations of origins that had no room for more. */
const LOOK_AGAIN_SOON_MS = 100

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
  readonly limit: number
}

/** How far a pass is. */
interface Pass {
  readonly dueBy: number
  after: number
  dead: readonly string[]
  /** When runners are checked for being alive (epoch ms). */
  checkAt: number
  isOver: boolean
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
  readonly #slots: Slots
  readonly #slot: Slot = {
    release: () => this.#slots.release(),
    tryTake: () => this.#slots.tryTake(),
    take: () => this.#slots.take('operation'),
  }
  readonly #signal: AbortSignal
  readonly #running = new Set<Promise<void>>()
  #oneEnded: (() => void) | undefined

  constructor(engine: Engine, concurrency: number, signal: AbortSignal) {
    this.#engine = engine
    this.#slots = new Slots(concurrency)
    this.#signal = signal
  }

  /**
   * One pass over what is pending and whose runner is gone, in the order of acceptance. It moves forward by
   * cursor and never claims more than it can start, so memory does not grow with the journal. It ends when everything
   * that is due by `dueBy` has been started; the far future takes our own delays back, never those of a server.
   */
  async pass(dueBy: number): Promise<void> {
    await this.#engine.keeper.open()
    const pass: Pass = { after: 0, dueBy, dead: [], checkAt: Number.NEGATIVE_INFINITY, isOver: false }
    while (!pass.isOver) {
      await this.#slots.take('pass')
      const slots = 1 + this.#slots.takeFree(MOST_CLAIMED - 1)
      let used = 0
      try {
        used = await this.#startNext(pass, slots)
      } finally {
        this.#slots.release(slots - used)
      }
    }
  }

  /** Starts up to `limit` operations; returns how many. */
  async #startNext(pass: Pass, limit: number): Promise<number> {
    const engine = this.#engine
    pass.isOver = this.#isHalted
    if (pass.isOver) return 0
    const { forgets } = engine.upkeep
    if (engine.clock.now() >= pass.checkAt) {
      const { owners } = await survey(engine)
      pass.dead = await findDeadOwners(engine, owners)
      pass.checkAt = engine.clock.now() + CHECK_RUNNERS_EVERY_MS
    }
    const { dead, dueBy, after } = pass
    const { claimed, last } = await this.#claim({ dead, dueBy, after, limit })
    // Claimed at the very moment at which the resume was stopped, or the namespace forgotten: free again at once.
    if (this.#signal.aborted || forgets !== engine.upkeep.forgets) {
      pass.isOver = true
      await Promise.all(claimed.map((one) => putBackUntouched(engine, one)))
      return 0
    }
    const started = claimed.filter((one) => this.#start(one, { dead, dueBy }))
    if (last === after) await this.#reachEnd(pass)
    else pass.after = last
    return started.length
  }

  /** Operations of an origin whose first ones wait at its gate were passed over: they are looked for again. */
  async #reachEnd(pass: Pass): Promise<void> {
    const { gates, upkeep } = this.#engine
    pass.isOver = gates.waitingKept === 0
    pass.after = 0
    if (pass.isOver) upkeep.sweep(this.#engine)
    else await this.#untilOneEnds()
  }

  async #untilOneEnds(): Promise<void> {
    const controller = new AbortController()
    const stopListening = onAbort(this.#signal, () => controller.abort())
    this.#oneEnded = () => controller.abort()
    await this.#engine.clock.sleep(LOOK_AGAIN_SOON_MS, controller.signal).catch(() => {})
    this.#oneEnded = undefined
    stopListening()
  }

  /** May nothing be taken up now? */
  get #isHalted(): boolean {
    return this.#signal.aborted || isOffline(this.#engine) || this.#engine.upkeep.forgetting > 0
  }

  #claim({ dead, ...wanted }: Wanted) {
    const engine = this.#engine
    return engine.keeper.claim({ ...claimant(engine, dead), ...dueFilter(engine), ...wanted })
  }

  /** Needs a slot, which is released after the operation. False: none is needed. */
  #start(claimed: ClaimedRecord, terms: PassTerms): boolean {
    if (adopt(this.#engine, claimed)) return false
    const running: Promise<void> = this.#resumeLane(claimed, terms).finally(() => this.#running.delete(running))
    this.#running.add(running)
    return true
  }

  /** One operation; then those behind it in its lane, whose turn it is now, one after the other. */
  async #resumeLane(first: ClaimedRecord, terms: PassTerms): Promise<void> {
    for (let one: ClaimedRecord | undefined = first; one; ) {
      this.report.claimed++
      const record: OperationRecord | undefined = await this.#resumeOne(one, terms.dead)
      this.#slots.release()
      this.#oneEnded?.()
      const hasNext = record?.lane !== undefined && !record.holdsLane
      one = hasNext ? await this.#nextInLane({ ...terms, lane: record.lane, after: one.place, limit: 1 }) : undefined
    }
  }

  async #resumeOne(claimed: ClaimedRecord, dead: readonly string[]): Promise<OperationRecord | undefined> {
    try {
      const record = await resumeOne(this.#engine, claimed, { dead, slot: this.#slot })
      this.report[record.status]++
      return record
    } catch (error) {
      this.report.pending++
      this.#engine.upkeep.reportFailure(claimed.record.key, error)
      return undefined
    }
  }

  /** The lane waits for a slot like everybody else. */
  async #nextInLane(wanted: Wanted): Promise<ClaimedRecord | undefined> {
    await this.#slots.take('lane')
    const next = this.#isHalted ? undefined : await this.#claimNext(wanted)
    if (!next) this.#slots.release()
    return next
  }

  async #claimNext(wanted: Wanted): Promise<ClaimedRecord | undefined> {
    const engine = this.#engine
    try {
      const { forgets } = engine.upkeep
      const [next] = (await this.#claim(wanted)).claimed
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
  { dead, slot }: { readonly dead: readonly string[]; readonly slot: Slot },
): Promise<OperationRecord> {
  const record = takeOver(engine, claimed, dead)
  const operation = new LiveOperation(record)
  operation.slot = slot
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

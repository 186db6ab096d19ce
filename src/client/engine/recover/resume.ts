import { onAbort } from '../../../foundation/abort.ts'
import type { SurveyResult } from '../../journal/port.ts'
import type { ClaimedRecord } from '../../journal/record-keeper.ts'
import type { OperationRecord } from '../../operation/record.ts'
import type { Engine } from '../engine.ts'
import { LiveOperation } from '../run/live-operation.ts'
import { isOffline } from '../run/online.ts'
import {
  adopt,
  claimDue,
  findDeadOwners,
  type PassTerms,
  putBackUntouched,
  survey,
  takeOver,
  type Wanted,
} from './claiming.ts'
import { Deliveries } from './deliveries.ts'
import { LanesUnderway } from './lanes-underway.ts'
import { resumeOperation } from './resume-operation.ts'
import { countIn, newReport } from './resume-report.ts'
import { type HeldSlot, Slots } from './slots.ts'
import { type Pass, Sweep } from './sweep.ts'

/** How often runners that hold a lease are checked for being alive, also within a long pass. */
const CHECK_RUNNERS_EVERY_MS = 5000
/** How soon a pass looks again at origins that had no room for more. */
const LOOK_AGAIN_MS = 100
/** More are not claimed at once: each has its body in memory. */
const MOST_CLAIMED = 100
/** Settlements of one name that are with their handlers at once, at most. */
const MOST_DELIVERED = 8

/** `cut`: origins that had no room may have some by now, and others may have something new. */
export type EndOfPass = 'over' | 'cut'

/** A resume: what it has taken up, how much at once, and what became of it. */
export class Resume {
  readonly report = newReport()
  readonly #engine: Engine
  readonly #slots: Slots
  readonly #deliveries: Deliveries
  readonly #lanes = new LanesUnderway()
  readonly #signal: AbortSignal
  readonly #running = new Set<Promise<void>>()
  #oneEnded: (() => void) | undefined

  constructor(engine: Engine, concurrency: number, signal: AbortSignal) {
    this.#engine = engine
    this.#slots = new Slots(concurrency, engine.clock)
    this.#deliveries = new Deliveries({
      engine,
      perName: Math.min(concurrency, MOST_DELIVERED),
      signal,
      isHalted: () => this.#isHalted,
      onDelivered: (record) => countIn(this.report, record),
    })
    this.#signal = signal
  }

  /**
   * One pass over what is pending and whose runner is gone, in the order of acceptance. It moves forward by
   * cursor and never claims more than it can start, so memory does not grow with the journal. It ends when everything
   * that is due by `dueBy` has been started; the far future takes our own delays back, never those of a server. One of many
   * does not wait for origins that have no room: the next one looks everywhere again.
   */
  async pass(dueBy: number, which: 'one of many' | 'only' = 'only'): Promise<EndOfPass> {
    await this.#engine.keeper.open()
    const sweep = new Sweep(this.#engine.gates, this.#slots)
    const pass: Pass = { sweep, dueBy, dead: [], checkAt: Number.NEGATIVE_INFINITY, isOver: this.#isHalted }
    if (pass.isOver) return 'over'
    await this.#checkRunners(pass)
    this.#deliveries.deliverDue(dueBy, pass.dead)
    while (!pass.isOver && !this.#isHalted) {
      if (which === 'one of many' && sweep.isForFewOnly(this.#engine.clock.now())) return 'cut'
      if (sweep.next() === 'later') await this.#untilOneEnds()
      else await this.#fillSlots(pass)
    }
    return 'over'
  }

  async #fillSlots(pass: Pass): Promise<void> {
    await this.#slots.take()
    const slots = 1 + this.#slots.takeFree(MOST_CLAIMED - 1)
    let used = 0
    try {
      used = await this.#startNext(pass, slots)
    } finally {
      this.#slots.release(slots - used)
    }
  }

  /** An operation that waits at its gate holds no slot: the pass looks again soon. */
  async #untilOneEnds(): Promise<void> {
    const controller = new AbortController()
    const stopListening = onAbort(this.#signal, () => controller.abort())
    this.#oneEnded = () => controller.abort()
    await this.#engine.clock.sleep(LOOK_AGAIN_MS, controller.signal).catch(() => {})
    this.#oneEnded = undefined
    stopListening()
  }

  /** Starts up to `limit` operations; returns how many. */
  async #startNext(pass: Pass, limit: number): Promise<number> {
    const engine = this.#engine
    if (this.#isHalted) return 0
    const { forgets } = engine.upkeep
    if (engine.clock.now() >= pass.checkAt) await this.#checkRunners(pass)
    const { dead, dueBy, sweep } = pass
    const stretch = sweep.next()
    if (stretch === 'later') return 0
    if (stretch === 'over') {
      pass.isOver = true
      engine.upkeep.sweep(engine)
      return 0
    }
    const { most, ...wanted } = stretch
    const { claimed, last } = await claimDue(engine, { dead, dueBy, ...wanted, limit: Math.min(limit, most) })
    // Claimed at the very moment at which the resume was stopped, or the namespace forgotten: free again at once.
    if (this.#signal.aborted || forgets !== engine.upkeep.forgets) {
      pass.isOver = true
      await Promise.all(claimed.map((one) => putBackUntouched(engine, one)))
      return 0
    }
    sweep.reach(stretch, last)
    const started = claimed.filter((one) => this.#start(one, { dead, dueBy })).length
    // All were left to their lanes: the turn of the pass is for what is behind them.
    return started === 0 && claimed.length > 0 ? this.#startNext(pass, limit) : started
  }

  async #checkRunners(pass: Pass): Promise<void> {
    const { owners } = await this.survey()
    pass.dead = await findDeadOwners(this.#engine, owners)
    pass.checkAt = this.#engine.clock.now() + CHECK_RUNNERS_EVERY_MS
  }

  /** When this resume can next take something up (epoch ms), and which runners have leases in force. */
  survey(): Promise<SurveyResult> {
    return survey(this.#engine, this.#deliveries.busyNames)
  }

  get deliveryFailure(): { readonly error: unknown } | undefined {
    return this.#deliveries.failure
  }

  /** May nothing be taken up now? */
  get #isHalted(): boolean {
    return this.#signal.aborted || isOffline(this.#engine) || this.#engine.upkeep.forgetting > 0
  }

  /** Needs a slot, which is released after the operation. False: none is needed. */
  #start(claimed: ClaimedRecord, terms: PassTerms): boolean {
    if (adopt(this.#engine, claimed)) return false
    const { lane, horizonAt, request } = claimed.record
    if (lane === undefined || !this.#lanes.has(lane)) {
      void this.#track(this.#resumeLane(claimed, terms))
      return true
    }
    // Past its horizon an operation is claimed to expire, wherever it stands in its lane.
    const isOver = horizonAt <= this.#engine.clock.now()
    const left = isOver
      ? this.#resumeOne(claimed, this.#slots.hold(request.origin), terms.dead).then(() => {})
      : this.#putBack(claimed)
    this.#lanes.leave(lane, this.#track(left))
    return isOver
  }

  #track(run: Promise<void>): Promise<void> {
    const running: Promise<void> = run.finally(() => this.#running.delete(running))
    this.#running.add(running)
    return running
  }

  #putBack(claimed: ClaimedRecord): Promise<void> {
    const { key } = claimed.record
    const report = (error: unknown): void => this.#engine.upkeep.reportFailure(key, error)
    return putBackUntouched(this.#engine, claimed).catch(report)
  }

  /** One operation; then those behind it in its lane, whose turn it is now, one after the other. */
  async #resumeLane(first: ClaimedRecord, terms: PassTerms): Promise<void> {
    const { lane } = first.record
    if (lane !== undefined) this.#lanes.begin(lane)
    const slot = this.#slots.hold(first.record.request.origin)
    for (let one: ClaimedRecord | undefined = first; one; ) {
      const record: OperationRecord | undefined = await this.#resumeOne(one, slot, terms.dead)
      if (lane === undefined) return
      // An operation that holds its lane has nobody behind it to go on with.
      if ((record === undefined || record.holdsLane) && this.#lanes.end(lane)) return
      one = await this.#nextInLane(slot, { ...terms, lane, after: one.place, limit: 1 })
    }
  }

  async #resumeOne(
    claimed: ClaimedRecord,
    slot: HeldSlot,
    dead: PassTerms['dead'],
  ): Promise<OperationRecord | undefined> {
    const operation = new LiveOperation(takeOver(this.#engine, claimed, dead))
    operation.slot = slot
    try {
      const isLeft = this.#deliveries.bound(operation)
      const record = await resumeOperation(this.#engine, operation)
      // One whose settlement was left is counted when that is delivered.
      if (!isLeft()) countIn(this.report, record)
      return record
    } catch (error) {
      countIn(this.report, { status: 'pending' })
      this.#engine.upkeep.reportFailure(claimed.record.key, error)
      return undefined
    } finally {
      slot.release()
      this.#oneEnded?.()
    }
  }

  /** The lane waits for a slot like everybody else. A claim is the beginning of a run: it is made when there is a slot. */
  async #nextInLane(slot: HeldSlot, wanted: Wanted & { readonly lane: string }): Promise<ClaimedRecord | undefined> {
    await slot.take('lane')
    do {
      await this.#lanes.free(wanted.lane)
      const next = await this.#claimNext(wanted)
      if (next) return next
    } while (!this.#lanes.end(wanted.lane))
    slot.release()
    return undefined
  }

  async #claimNext(wanted: Wanted): Promise<ClaimedRecord | undefined> {
    const engine = this.#engine
    const { forgets } = engine.upkeep
    try {
      const [next] = this.#isHalted ? [] : (await claimDue(engine, wanted)).claimed
      if (next && !this.#isHalted && forgets === engine.upkeep.forgets) return adopt(engine, next) ? undefined : next
      if (next) await putBackUntouched(engine, next)
    } catch (error) {
      engine.upkeep.reportFailure(undefined, error)
    }
    return undefined
  }

  /** Resolves when nothing that was taken up is running any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
    await this.#deliveries.idle()
  }
}

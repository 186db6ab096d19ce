import type { Journal, JournalCommand, JournalResult, JournalRow } from '../../client/journal/port.ts'
import { StorageError } from '../../errors/classes.ts'
import type { IsSettled } from '../command-meaning.ts'
import { ChangedRecords } from './changed-records.ts'
import { wordOf } from './journal-words.ts'
import { labelOf } from './oracle/shadow.ts'
import type { OutboxPlan, RecordChange } from './plan.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { SimulatedTransaction } from './simulated-transaction.ts'
import type { Stage, Write } from './vocabulary.ts'
import type { World } from './world.ts'

/** Mostly as a busy disk is slow, now and then longer than a deadline or a lease. */
const SLOW_MS = [100, 100, 300, 300, 1000, 2000, 2000, 12_000, 35_000]

/** As the Postgres journal has it. */
const SILENCE_LIMIT_MS = 5000

/** A batch on its way to the disk. */
interface Batch {
  readonly process: SimulatedProcess
  readonly commands: readonly JournalCommand[]
  readonly words: readonly Write[]
  /** A power cut took it, or its process ended and took it along. */
  lost: boolean
  readonly resolve: (results: JournalResult[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * One store for all processes of a history. A batch is asked for, written and synced, and only then answered; whatever was
 * not synced is gone after a power cut. What the commands mean is left to a real journal.
 */
export class SimulatedDisk {
  readonly #world: World
  readonly #store: Journal
  readonly #underway = new Set<Batch>()
  readonly #changed = new ChangedRecords()
  #fullUntil = 0

  constructor(world: World, store: Journal) {
    this.#world = world
    this.#store = store
  }

  /** The store, as one process has it open. */
  openIn(process: SimulatedProcess): Journal {
    return {
      level: 'power',
      open: () => new Promise((resolve) => process.later(1, () => process.reach('open') && resolve())),
      close: async () => {},
      persistIn: (transaction, row) => void (transaction as SimulatedTransaction).rows.push(row),
      execute: (commands) => new Promise((resolve, reject) => this.#ask({ process, commands, resolve, reject })),
    }
  }

  /** Begins a transaction of the program's own. */
  begin(process: SimulatedProcess, database: OutboxPlan['database']): SimulatedTransaction {
    const world = this.#world
    this.#world.happened('outbox')
    return new SimulatedTransaction(database, {
      commit: (rows) => this.#commit(process, rows),
      onArrival: (happen) => world.timeline.at(world.timeline.now + world.dice('commit').pick([1, 20, 3000]), happen),
      say: (what) => world.say(process.name, what),
    })
  }

  async #commit(process: SimulatedProcess, rows: readonly JournalRow[]): Promise<void> {
    const commands = rows.map((row) => ({ do: 'append', row }) as const)
    const results = await this.#world.timeline.outside(this.#store.execute(commands))
    this.#world.oracle.journaled(process, commands, results)
  }

  fillUp(ms: number): void {
    this.#fullUntil = this.#world.timeline.now + ms
    this.#world.happened('disk-full')
    this.#world.say('disk', `is full for ${ms} ms`)
  }

  /** Somebody writes to the file: a pending operation no longer is what was accepted. */
  changeRecord(what: RecordChange): void {
    const pending = [...this.#world.oracle.shadows.values()].filter((shadow) => shadow.open && !shadow.isUndelivered)
    if (pending.length === 0) return
    const shadow = this.#world.dice('record-changed').pick(pending)
    this.#changed.change(shadow.key, what)
    shadow.isChanged = true
    this.#world.happened('record-changed')
    this.#world.say('disk', `the ${what} of ${labelOf(shadow)} is changed on it`)
  }

  /** Is nothing on its way? */
  get idle(): boolean {
    return this.#underway.size === 0
  }

  /** Everything that was not synced is gone. */
  cutPower(): void {
    for (const batch of this.#underway) batch.lost = true
  }

  #ask(asked: Pick<Batch, 'process' | 'commands' | 'resolve' | 'reject'>): void {
    const isSettled: IsSettled = ({ key }) => this.#world.oracle.isSettled(key)
    const named = asked.commands.map((command) => wordOf(command, isSettled))
    const words = [...new Set(named)].filter((word) => word !== undefined)
    const batch: Batch = { ...asked, words, lost: false }
    if (!reachAll(batch, 'asked')) return
    this.#underway.add(batch)
    if (words.includes('settle') && this.#world.strikes('handler-leaves')) batch.process.onSettling?.()
    const dice = this.#world.dice('disk')
    const slow = this.#world.strikes('disk-slow') ? dice.pick(SLOW_MS) : 0
    const writeMs = dice.between(0, 2)
    batch.process.later(writeMs, () => this.#write(batch, slow + dice.between(0, 3)))
  }

  /** The bytes are in the cache. If the process dies now, chance decides whether they reach the disk. */
  #write(batch: Batch, syncMs: number): void {
    const { timeline } = this.#world
    if (!reachAll(batch, 'unsynced') && this.#world.dice('cache').chance(0.5)) {
      batch.lost = true
      this.#world.say('disk', `${batch.process.name}'s ${batch.words.join(' + ')} was not synced, and is lost`)
    }
    timeline.at(timeline.now + syncMs, () => void this.#sync(batch))
  }

  async #sync(batch: Batch): Promise<void> {
    this.#underway.delete(batch)
    if (batch.lost) return
    const { timeline } = this.#world
    if (timeline.now < this.#fullUntil && !this.#world.calm && changesAnything(batch)) {
      this.#world.say('disk', `is full: refuses ${batch.words.join(' + ')}`)
      return this.#answerLater(batch, () => this.#fail(batch, new StorageError('The disk is full')))
    }
    if (this.#world.strikes('connection-silent')) return this.#fallSilent(batch)
    if (this.#world.strikes('store-blinks')) {
      this.#world.say('disk', `blinks: ${batch.words.join(' + ')} was not done`)
      return this.#answerLater(batch, () => this.#fail(batch, new StorageError('The store did not answer')))
    }
    try {
      const results = await timeline.outside(this.#store.execute(batch.commands))
      this.#world.oracle.journaled(batch.process, batch.commands, results)
      this.#answer(batch, this.#changed.show(batch.commands, results))
    } catch (error) {
      this.#answerLater(batch, () => batch.reject(error))
    }
  }

  /** Done or not, no answer comes. A journal with a time limit says so when that is over, and another one never does. */
  async #fallSilent(batch: Batch): Promise<void> {
    const { timeline, oracle } = this.#world
    const dice = this.#world.dice('connection-silent')
    const [isDone, isLimited] = [dice.chance(0.5), dice.chance(0.7)]
    const words = `${batch.words.join(' + ')} was ${isDone ? 'done' : 'not done'}`
    this.#world.say('disk', `falls silent for ${batch.process.name}: ${words}`)
    const results = isDone && (await timeline.outside(this.#store.execute(batch.commands)).catch(() => undefined))
    if (results) oracle.journaled(batch.process, batch.commands, results)
    const error = new StorageError('The store gave no answer in time', { effect: 'unknown' })
    if (isLimited) batch.process.later(SILENCE_LIMIT_MS, () => this.#fail(batch, error))
  }

  #answer(batch: Batch, results: JournalResult[]): void {
    const lost = changesAnything(batch) && this.#world.strikes('disk-answer-lost')
    this.#answerLater(batch, () => {
      if (!reachAll(batch, 'durable')) return
      this.#world.oracle.acknowledged(batch.process, batch.commands, results)
      if (!lost) return batch.resolve(results)
      this.#world.say('disk', `has done ${batch.words.join(' + ')}, but ${batch.process.name} gets a failure`)
      this.#fail(batch, new StorageError('The connection to the store was lost', { effect: 'unknown' }))
    })
  }

  #fail(batch: Batch, error: unknown): void {
    this.#world.oracle.journalFailed(batch.process, batch.commands)
    batch.reject(error)
  }

  #answerLater(batch: Batch, tell: () => void): void {
    batch.process.later(this.#world.dice('disk').between(0, 1), tell)
  }
}

const READING: readonly Write[] = ['read', 'survey']

function changesAnything({ words }: Batch): boolean {
  return words.some((word) => !READING.includes(word))
}

function reachAll({ process, words }: Batch, stage: Stage): boolean {
  return words.every((word) => process.reach(`${word}:${stage}`))
}

import type { Coordination } from '../../client/coordination/port.ts'
import type { Act, Backlog, CallPlan, PlannedCrash, SlotPlan } from './plan.ts'
import { Program, type Surroundings } from './program.ts'
import type { SimulatedBrowser } from './simulated-browser.ts'
import { SimulatedProcess } from './simulated-process.ts'
import type { SimulatedCrashPoint } from './vocabulary.ts'
import type { World } from './world.ts'

/** A crash of the plan, and how often its point has been reached. */
interface Trap extends PlannedCrash {
  reached: number
}

/** The places where processes run, one after the other in each. */
export class Slots {
  readonly #world: World
  readonly #around: Omit<Surroundings, 'slot'>
  readonly #browser: SimulatedBrowser
  readonly #traps: readonly Trap[]
  readonly #running: (Program | undefined)[] = []
  readonly #lives: number[] = []
  readonly #processes = new Map<string, SimulatedProcess>()
  readonly #programs: Program[] = []

  constructor(world: World, parts: Pick<Surroundings, 'disk' | 'network'> & { readonly browser: SimulatedBrowser }) {
    this.#world = world
    this.#browser = parts.browser
    this.#around = { ...parts, world, coordinationOf: (process) => this.#coordinationOf(process) }
    this.#traps = world.plan.crashes.map((crash) => ({ ...crash, reached: 0 }))
  }

  #coordinationOf(process: SimulatedProcess): Coordination {
    const { platform, liveness } = this.#world.plan
    if (platform === 'tabs') return this.#browser.coordinationOf(process)
    const isDead = (name: string): boolean => liveness === 'known' && this.#processes.get(name)?.alive === false
    return {
      owner: process.name,
      findDead: (owners) => owners.filter(isDead),
      onActive: () => () => {},
      leave: () => {},
    }
  }

  startAll(): void {
    this.#world.plan.slots.forEach((plan, slot) => {
      this.#start(slot, plan)
    })
  }

  /** A program outside of the plan that only brings operations to their end. */
  caretaker(n: number, origin: string): Program {
    const program = this.#spawn(`Z${n}`, { machine: 0, origin, trusts: [], headers: 'full', endsAt: () => false })
    program.start({ handlers: 'all', resume: 'none' })
    return program
  }

  call(plan: CallPlan): void {
    const program = this.#running[plan.slot]
    if (!program?.process.alive) return
    // A frozen process calls when it thaws.
    program.process.later(0, () => program.call(plan))
  }

  layUp(backlog: Backlog): void {
    const program = this.#running[backlog.slot]
    program?.process.later(0, () => program.layUp(backlog))
  }

  perform(act: Act & { readonly slot: number }): void {
    const program = this.#running[act.slot]
    if (!program?.process.alive) return
    if (act.do === 'freeze') {
      this.#world.happened('freeze')
      program.process.freeze(act.ms)
    } else if (act.do === 'hide') {
      this.#browser.hide(program.process, act.ms)
    } else if (act.do === 'crash') {
      this.#world.happened('crash')
      program.process.end('is killed')
    } else if (act.do === 'close') {
      program.process.later(0, () => program.close())
    } else if (act.do === 'resume') {
      program.process.later(0, () => void program.resume())
    } else if (act.do === 'list') {
      program.process.later(0, () => program.list())
    }
  }

  killAll(how: string): void {
    for (const program of this.#running) program?.process.end(how)
  }

  /** The history is over: nothing of it goes on. */
  endAll(): void {
    for (const { process } of this.#programs) {
      process.onEnd = undefined
      process.end('the history is over')
    }
    for (const program of this.#programs) program.discard()
  }

  /** By then no process is frozen any more. */
  get thawedAt(): number {
    return Math.max(0, ...[...this.#processes.values()].map((process) => process.thawsAt))
  }

  #start(slot: number, plan: SlotPlan): void {
    const life = (this.#lives[slot] ?? 0) + 1
    this.#lives[slot] = life
    const name = `${'ABC'[slot]}${life}`
    const program = this.#spawn(name, { ...plan, endsAt: (point) => this.#endsAt(slot, point) })
    this.#running[slot] = program
    program.process.onEnd = () => this.#restart(slot, plan, life)
    program.process.onSettling = () => program.handlers.leave(plan.handlers)
    program.start(plan)
  }

  #restart(slot: number, plan: SlotPlan, life: number): void {
    const { timeline, calm } = this.#world
    if (calm || life > plan.restarts) return
    timeline.at(timeline.now + plan.restartAfterMs, () => !this.#world.calm && this.#start(slot, plan))
  }

  #spawn(
    name: string,
    {
      machine,
      endsAt,
      ...slot
    }: Pick<SlotPlan, 'machine' | 'origin' | 'trusts' | 'headers'> & {
      endsAt: (point: SimulatedCrashPoint) => boolean
    },
  ): Program {
    const on = this.#world.machines[machine] ?? this.#world.machines[0]
    if (!on) throw new Error('A world needs a machine')
    const process = new SimulatedProcess(this.#world, { name, machine: on, endsAt })
    this.#processes.set(name, process)
    this.#world.say(name, 'starts')
    const program = new Program(process, { ...this.#around, slot })
    this.#programs.push(program)
    return program
  }

  #endsAt(slot: number, point: SimulatedCrashPoint): boolean {
    let ends = false
    for (const trap of this.#traps) {
      if (trap.slot === slot && trap.point === point && ++trap.reached === trap.occurrence) ends = true
    }
    if (ends) this.#world.happened('crash')
    return ends
  }
}

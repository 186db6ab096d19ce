import { describe, expect, it } from 'vitest'
import { type GateStore, OriginGate, type Ticket } from '../../../../src/client/gate/origin-gate.ts'
import type { RequestOutcome } from '../../../../src/client/gate/record-outcome.ts'
import { type ManualClock, manualClock } from '../../../../src/testing/manual-clock.ts'
import { LIMITS } from './gate-model.ts'

type Named = Ticket & { readonly name: string }

/** A gate, and a log of what it does to the tickets. */
class Scene {
  readonly clock: ManualClock = manualClock()
  readonly log: string[] = []
  readonly gate: OriginGate

  constructor(store: GateStore = { state: undefined }) {
    this.gate = new OriginGate({ limits: LIMITS, clock: this.clock, random: () => 0.5, store })
  }

  ticket(name: string, kind: Ticket['kind'] = 'call', spreadUntil?: number): Named {
    return {
      name,
      kind,
      spreadUntil,
      admitted: () => this.log.push(`${name} sent`),
      refused: () => this.log.push(`${name} refused`),
    }
  }

  enter(...names: string[]): Named[] {
    const tickets = names.map((name) => this.ticket(name))
    for (const ticket of tickets) this.gate.enter(ticket)
    return tickets
  }

  end(outcome: RequestOutcome, ...tickets: Ticket[]): void {
    for (const ticket of tickets) this.gate.report(ticket, { outcome, tookMs: 10 })
  }

  /** Three calls fail, so that the origin is failing. */
  fail(): void {
    this.end('failure', ...this.enter('one', 'two', 'three'))
    this.log.length = 0
  }
}

describe('the gate of an origin', () => {
  it('lets everything through while all is well, without a timer', () => {
    const scene = new Scene()
    const { gate, clock, log } = scene
    scene.enter('a', 'b', 'c')
    expect(log).toEqual(['a sent', 'b sent', 'c sent'])
    expect([gate.waiting, clock.pending()]).toEqual([0, 0])
  })

  it('lets calls wait in a blip, sends one at a time, and the rest once one has succeeded', async () => {
    const scene = new Scene()
    const { clock, log, gate } = scene
    scene.fail()
    const [a, b, c, d] = scene.enter('a', 'b', 'c', 'd')
    expect([log, gate.waiting, gate.phase, clock.pending()]).toEqual([[], 4, 'failing', 1])
    await clock.advance(50)
    expect(log).toEqual(['a sent'])
    scene.end('failure', a as Named)
    await clock.advance(100)
    expect(log).toEqual(['a sent', 'b sent'])
    scene.end('success', b as Named)
    expect(log).toEqual(['a sent', 'b sent', 'c sent'])
    scene.end('success', c as Named)
    expect(log).toEqual(['a sent', 'b sent', 'c sent', 'd sent'])
    scene.end('success', d as Named)
    expect([gate.waiting, clock.pending()]).toEqual([0, 0])
  })

  it('sends calls before retries, and kept operations last', async () => {
    const scene = new Scene()
    scene.fail()
    for (const kind of ['kept', 'retry', 'call'] as const) scene.gate.enter(scene.ticket(kind, kind))
    await scene.clock.advance(2000)
    expect(scene.log).toEqual(['call sent', 'retry sent', 'kept sent'])
  })

  it('lets a retry wait for a token, and the newest have the first', () => {
    const scene = new Scene()
    const [call] = scene.enter('call')
    for (const name of ['a', 'b', 'c', 'd']) scene.gate.enter(scene.ticket(name, 'retry'))
    expect(scene.log).toEqual(['call sent', 'a sent', 'b sent'])
    scene.end('success', call as Named)
    expect(scene.log.at(-1)).toBe('d sent')
    expect(scene.gate.waiting).toBe(1)
  })

  it('sends the retry first whose time comes first while nothing succeeds', async () => {
    const scene = new Scene()
    const now = scene.clock.now()
    scene.end('failure', ...scene.enter('call'))
    scene.gate.enter(scene.ticket('later', 'retry', now + 400))
    scene.gate.enter(scene.ticket('sooner', 'retry', now + 200))
    await scene.clock.advance(200)
    expect(scene.log).toEqual(['call sent', 'sooner sent'])
  })

  it('refuses all that wait when the breaker opens, but for one that finds out', async () => {
    const scene = new Scene()
    scene.fail()
    scene.enter('a', 'b', 'c')
    scene.gate.enter(scene.ticket('kept', 'kept'))
    const isSent = (entry: string): boolean => entry.endsWith('sent')
    // Probes that are never answered make room for the next one after half a second: a, b and c have gone.
    scene.enter(...Array.from({ length: 20 }, (_, index) => `call ${index}`))
    await scene.clock.advance(5000)
    const refused = scene.log.filter((entry) => !isSent(entry))
    expect(refused.length + scene.log.filter(isSent).length).toBe(23)
    expect(refused.length).toBeGreaterThan(10)
    expect([scene.gate.phase, scene.gate.waiting]).toEqual(['open', 1])
    scene.enter('late')
    expect(scene.log.at(-1)).toBe('late refused')
  })

  it('lets a ticket leave, before it is sent and after', async () => {
    const scene = new Scene()
    scene.fail()
    const [a, b] = scene.enter('a', 'b')
    scene.gate.leave(a as Named)
    await scene.clock.advance(50)
    expect(scene.log).toEqual(['b sent'])
    scene.enter('c')
    scene.gate.leave(b as Named)
    expect(scene.log).toEqual(['b sent', 'c sent'])
  })

  it('takes a report once', () => {
    const scene = new Scene()
    const [a] = scene.enter('a')
    scene.end('failure', a as Named, a as Named)
    expect(scene.gate.state.failures).toBe(1)
  })

  it('has one timer, however many wait', async () => {
    const scene = new Scene()
    scene.fail()
    scene.enter(...Array.from({ length: 100 }, (_, index) => `${index}`))
    expect(scene.clock.pending()).toBe(1)
    await scene.clock.advance(50)
    expect(scene.clock.pending()).toBe(1)
  })

  it('counts no request from before a change of phase: it may hang for long', async () => {
    const scene = new Scene()
    const hung = scene.enter(...Array.from({ length: 50 }, (_, index) => `hung ${index}`))
    scene.fail()
    const [probe] = scene.enter('probe', 'next', 'last')
    await scene.clock.advance(50)
    scene.end('success', probe as Named)
    expect(scene.log).toEqual(['probe sent', 'next sent'])
    for (const ticket of hung) scene.gate.leave(ticket)
    expect(scene.log).toEqual(['probe sent', 'next sent'])
  })

  it('finds a server out that does not answer', async () => {
    const scene = new Scene()
    scene.end('success', ...scene.enter(...Array.from({ length: 10 }, (_, index) => `well ${index}`)))
    scene.enter(...Array.from({ length: 5 }, (_, index) => `hung ${index}`))
    const [aborted] = scene.enter('aborted')
    await scene.clock.advance(300)
    scene.gate.leave(aborted as Named)
    scene.log.length = 0
    scene.enter('a', 'b')
    expect([scene.log, scene.gate.phase]).toEqual([['a sent'], 'failing'])
  })

  it('goes on with the state that it finds', () => {
    const store: GateStore = { state: undefined }
    new Scene(store).fail()
    const next = new Scene(store)
    next.enter('a')
    expect(next.log).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import type { GateLimits } from '../../../../src/client/gate/gate-limits.ts'
import type { GateStore } from '../../../../src/client/gate/gate-state.ts'
import { OriginGate } from '../../../../src/client/gate/origin-gate.ts'
import type { RequestOutcome, ServerWish } from '../../../../src/client/gate/record-outcome.ts'
import type { Entry, Sent, Ticket } from '../../../../src/client/gate/waiting-line.ts'
import { type ManualClock, manualClock } from '../../../../src/testing/manual-clock.ts'
import { LIMITS } from './gate-model.ts'

type Terms = Partial<Pick<Ticket, 'kind' | 'spreadUntil' | 'leaveAt'>>

/** A gate, and a log of what it does to the tickets. */
class Scene {
  readonly clock: ManualClock = manualClock()
  readonly log: string[] = []
  readonly gate: OriginGate
  readonly turns: string[] = []
  readonly #sent = new Map<string, Sent>()
  readonly #tickets = new Map<string, Ticket>()

  constructor({ store = { state: undefined }, limits = LIMITS }: { store?: GateStore; limits?: GateLimits } = {}) {
    const onBreaker = (from: string, to: string): void => void this.turns.push(`${from} > ${to}`)
    this.gate = new OriginGate({ limits, clock: this.clock, random: () => 0.5, store, onBreaker })
  }

  enter(...names: string[]): void {
    for (const name of names) this.enterAs(name, {})
  }

  enterAs(name: string, { kind = 'call', spreadUntil, leaveAt = Number.POSITIVE_INFINITY }: Terms): void {
    const ticket: Ticket = { kind, spreadUntil, leaveAt, called: (entry) => this.#note(name, entry) }
    this.#tickets.set(name, ticket)
    const entry = this.gate.enter(ticket)
    if (entry) this.#note(name, entry)
    else this.gate.join(ticket)
  }

  #note(name: string, entry: Entry): void {
    this.log.push(`${name} ${entry.is}`)
    if (entry.is === 'sent') this.#sent.set(name, entry)
  }

  leave(name: string): void {
    const ticket = this.#tickets.get(name)
    if (ticket) this.gate.leave(ticket)
  }

  end(outcome: RequestOutcome, ...names: string[]): void {
    for (const name of names) {
      const sent = this.#sent.get(name)
      if (!sent) throw new Error(`${name} was not sent`)
      this.gate.report(sent, { outcome, tookMs: 10 })
    }
  }

  cut(name: string, tookMs: number): void {
    const sent = this.#sent.get(name)
    if (sent) this.gate.report(sent, { outcome: 'cut', tookMs })
  }

  /** It succeeds, and the server asks for something. */
  endWith(name: string, wish: ServerWish): void {
    const sent = this.#sent.get(name)
    if (sent) this.gate.report(sent, { outcome: 'success', tookMs: 10, wish })
  }

  /** Three calls fail, so that the origin is failing. */
  fail(): void {
    this.enter('one', 'two', 'three')
    this.end('failure', 'one', 'two', 'three')
    this.log.length = 0
  }
}

const numbered = (count: number, name = ''): string[] => Array.from({ length: count }, (_, index) => `${name}${index}`)

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
    scene.enter('a', 'b', 'c', 'd')
    expect([log, gate.waiting, gate.phase, clock.pending()]).toEqual([[], 4, 'failing', 1])
    await clock.advance(50)
    expect(log).toEqual(['a sent'])
    scene.end('failure', 'a')
    await clock.advance(100)
    expect(log).toEqual(['a sent', 'b sent'])
    scene.end('success', 'b')
    expect(log).toEqual(['a sent', 'b sent', 'c sent'])
    scene.end('success', 'c')
    expect(log).toEqual(['a sent', 'b sent', 'c sent', 'd sent'])
    scene.end('success', 'd')
    expect([gate.waiting, clock.pending()]).toEqual([0, 0])
  })

  it('sends calls before retries, and kept operations last', async () => {
    const scene = new Scene()
    scene.fail()
    for (const kind of ['kept', 'retry', 'call'] as const) scene.enterAs(kind, { kind })
    await scene.clock.advance(2000)
    expect(scene.log).toEqual(['call sent', 'retry sent', 'kept sent'])
  })

  it('lets a retry wait for a token, and the newest have the first', () => {
    const scene = new Scene()
    scene.enter('call')
    for (const name of ['a', 'b', 'c', 'd']) scene.enterAs(name, { kind: 'retry' })
    expect(scene.log).toEqual(['call sent', 'a sent', 'b sent'])
    scene.end('success', 'call')
    expect(scene.log.at(-1)).toBe('d sent')
    expect(scene.gate.waiting).toBe(1)
  })

  it('sends the retry first whose time comes first while nothing succeeds', async () => {
    const scene = new Scene()
    const now = scene.clock.now()
    scene.enter('call')
    scene.end('failure', 'call')
    scene.enterAs('later', { kind: 'retry', spreadUntil: now + 400 })
    scene.enterAs('sooner', { kind: 'retry', spreadUntil: now + 200 })
    await scene.clock.advance(200)
    expect(scene.log).toEqual(['call sent', 'sooner sent'])
  })

  it('refuses all that wait when the breaker opens, but for one that finds out', async () => {
    const scene = new Scene()
    scene.fail()
    scene.enter('a', 'b', 'c')
    scene.enterAs('kept', { kind: 'kept' })
    const isSent = (entry: string): boolean => entry.endsWith('sent')
    // Probes that are never answered make room for the next one after half a second: a, b and c have gone.
    scene.enter(...numbered(20, 'call '))
    await scene.clock.advance(5025)
    const refused = scene.log.filter((entry) => !isSent(entry))
    expect(refused.length + scene.log.filter(isSent).length).toBe(23)
    expect(refused.length).toBeGreaterThan(10)
    expect([scene.gate.phase, scene.gate.waiting]).toEqual(['open', 1])
    scene.enter('late')
    expect(scene.log.at(-1)).toBe('late open')
  })

  it('lets a ticket leave that waits', async () => {
    const scene = new Scene()
    scene.fail()
    scene.enter('a', 'b')
    scene.leave('a')
    await scene.clock.advance(50)
    expect(scene.log).toEqual(['b sent'])
    scene.leave('b')
    expect([scene.gate.inFlight, scene.gate.waiting]).toEqual([1, 0])
  })

  it('has one timer, however many wait', async () => {
    const scene = new Scene()
    scene.fail()
    scene.enter(...numbered(100))
    expect(scene.clock.pending()).toBe(1)
    await scene.clock.advance(50)
    expect(scene.clock.pending()).toBe(1)
  })

  it('has no timer once nobody waits', async () => {
    const scene = new Scene()
    scene.fail()
    scene.enterAs('a', { leaveAt: scene.clock.now() + 20 })
    await scene.clock.advance(20)
    expect([scene.log, scene.clock.pending()]).toEqual([['a late'], 0])
  })

  it('counts no request from before a change of phase: it may hang for long', async () => {
    const scene = new Scene()
    scene.enter(...numbered(50, 'hung '))
    scene.fail()
    scene.enter('probe', 'next', 'last')
    await scene.clock.advance(50)
    scene.end('success', 'probe')
    expect(scene.log).toEqual(['probe sent', 'next sent'])
    scene.end('ignored', ...numbered(50, 'hung '))
    expect([scene.log, scene.gate.inFlight]).toEqual([['probe sent', 'next sent'], 1])
  })

  it('finds a server out that does not answer', async () => {
    const scene = new Scene()
    scene.enter(...numbered(10, 'well '))
    scene.end('success', ...numbered(10, 'well '))
    scene.enter(...numbered(5, 'hung '), 'aborted')
    await scene.clock.advance(300)
    scene.end('ignored', 'aborted')
    scene.log.length = 0
    scene.enter('a', 'b')
    expect([scene.log, scene.gate.phase]).toEqual([['a sent'], 'failing'])
  })

  it('goes on with the state that it finds', () => {
    const store: GateStore = { state: undefined }
    new Scene({ store }).fail()
    const next = new Scene({ store })
    next.enter('a')
    expect(next.log).toEqual([])
  })
})

describe('a ticket', () => {
  it('waits until it wants to leave, and no longer', async () => {
    const scene = new Scene()
    scene.fail()
    const now = scene.clock.now()
    scene.enter('stays')
    scene.enterAs('soon', { leaveAt: now + 60 })
    scene.enterAs('later', { leaveAt: now + 90 })
    scene.enterAs('kept', { kind: 'kept', leaveAt: now + 60 })
    await scene.clock.advance(50)
    expect(scene.log).toEqual(['stays sent'])
    await scene.clock.advance(10)
    expect(scene.log).toEqual(['stays sent', 'soon late', 'kept late'])
    await scene.clock.advance(30)
    expect([scene.log.at(-1), scene.gate.waiting]).toEqual(['later late', 0])
  })

  it('is told at once that the wait would be too long', () => {
    const scene = new Scene()
    scene.fail()
    scene.enterAs('a', { leaveAt: scene.clock.now() + 49 })
    scene.enterAs('b', { leaveAt: scene.clock.now() + 50 })
    expect([scene.log, scene.gate.waiting]).toEqual([['a late'], 1])
  })

  it('is told while it waits that the wait has become too long', () => {
    const scene = new Scene({ limits: { ...LIMITS, concurrency: 1 } })
    scene.enter('a')
    scene.enterAs('b', { leaveAt: scene.clock.now() + 3000 })
    scene.enterAs('c', { leaveAt: scene.clock.now() + 9000 })
    expect(scene.gate.waiting).toBe(2)
    scene.endWith('a', { retryAfterMs: 4000 })
    expect([scene.log, scene.gate.waiting]).toEqual([['a sent', 'b late'], 1])
  })

  it('goes in its order behind others of its kind', () => {
    const scene = new Scene({ limits: { ...LIMITS, concurrency: 1 } })
    scene.enter('a', 'b', 'c')
    scene.end('success', 'a')
    scene.end('success', 'b')
    expect(scene.log).toEqual(['a sent', 'b sent', 'c sent'])
  })
})

describe('limits', () => {
  it('hold requests back that would be too many at once, of all kinds together', () => {
    const scene = new Scene({ limits: { ...LIMITS, concurrency: 3 } })
    for (const kind of ['call', 'retry', 'kept'] as const) scene.enterAs(kind, { kind })
    for (const kind of ['kept', 'retry', 'call'] as const) scene.enterAs(`next ${kind}`, { kind })
    expect([scene.gate.inFlight, scene.gate.waiting, scene.clock.pending()]).toEqual([3, 3, 0])
    scene.end('success', 'kept')
    scene.end('ignored', 'call')
    expect(scene.log.slice(3)).toEqual(['next call sent', 'next retry sent'])
  })

  it('spread requests evenly over a second', async () => {
    const scene = new Scene({ limits: { ...LIMITS, perSecond: 4 } })
    scene.enter(...numbered(9))
    const sentAfter = async (ms: number): Promise<number> => {
      await scene.clock.advance(ms)
      return scene.log.length
    }
    expect([await sentAfter(0), await sentAfter(249), await sentAfter(1), await sentAfter(500)]).toEqual([1, 1, 2, 4])
    scene.end('success', '0')
    expect([await sentAfter(249), await sentAfter(1), await sentAfter(500)]).toEqual([4, 5, 7])
  })
})

it('a request that was not sent after all leaves no trace: neither a place nor a missing answer', async () => {
  const { gate, clock } = new Scene({ limits: { ...LIMITS, concurrency: 1 } })
  for (let count = 0; count < 10; count++) {
    const entry = gate.enter({ kind: 'call', leaveAt: Number.POSITIVE_INFINITY })
    if (entry?.is === 'sent') gate.withdraw(entry)
    expect(entry?.is).toBe('sent')
    await clock.advance(1000)
  }
  expect([gate.phase, gate.inFlight, gate.isClear]).toEqual(['healthy', 0, true])
})

describe('the connections of the platform', () => {
  it('hold back whatever is more, of any kind, probes too, until there are more of them', () => {
    let connections = 2
    const scene = new Scene({ limits: { ...LIMITS, connections: () => connections } })
    scene.enter('a', 'b', 'c', 'd', 'e')
    scene.enterAs('kept', { kind: 'kept' })
    expect(scene.log).toEqual(['a sent', 'b sent'])
    scene.end('success', 'a')
    expect(scene.log.slice(2)).toEqual(['c sent'])
    connections = Number.POSITIVE_INFINITY
    scene.end('success', 'b')
    expect(scene.log.slice(3)).toEqual(['d sent', 'e sent', 'kept sent'])
  })

  it('are taken by the answers that are still read; the concurrency of the caller is not', () => {
    const scene = new Scene({ limits: { ...LIMITS, connections: () => 2, concurrency: 2 } })
    const ends = [scene.gate.read(), scene.gate.read()]
    scene.enter('a')
    expect([scene.log, scene.gate.isClear, scene.gate.isIdle]).toEqual([[], false, false])
    ends[0]?.()
    ends[0]?.()
    expect(scene.log).toEqual(['a sent'])
    scene.enter('b')
    expect(scene.log).toEqual(['a sent'])
    ends[1]?.()
    scene.end('success', 'a')
    scene.end('success', 'b')
    expect([scene.gate.isClear, scene.gate.isIdle]).toEqual([true, true])

    const inNode = new Scene({ limits: { ...LIMITS, concurrency: 1 } })
    inNode.gate.read()
    inNode.enter('a')
    expect(inNode.log).toEqual(['a sent'])
  })
})

describe('a request that was ended by the deadline of its caller', () => {
  it('says nothing of the server if an answer usually takes longer', () => {
    const scene = new Scene()
    scene.enter(...numbered(8))
    scene.end('success', ...numbered(5))
    for (const name of numbered(8).slice(5)) scene.cut(name, 100)
    expect(scene.gate.state).toMatchObject({ failures: 0, window: undefined })
  })

  it('counts as a failure if one should have come by then, or if there was none yet', () => {
    const scene = new Scene()
    scene.enter('a', 'b', 'c')
    scene.cut('a', 100)
    expect(scene.gate.state.failures).toBe(1)
    scene.end('success', 'b')
    scene.cut('c', 131)
    expect(scene.gate.state.failures).toBe(1)
  })
})

describe('the window that a failure opens', () => {
  it('has no place for what was sent before it: that may hang for long', () => {
    const scene = new Scene()
    scene.enter('warm', ...numbered(20, 'poll '), 'fails')
    scene.end('success', 'warm')
    scene.end('failure', 'fails')
    scene.enter('call')
    expect(scene.log.at(-1)).toBe('call sent')
    scene.end('success', 'call', ...numbered(20, 'poll '))
    expect(scene.gate.inFlight).toBe(0)
  })
})

describe('the breaker', () => {
  it('is told of whenever it turns, also by time alone', async () => {
    const scene = new Scene()
    scene.fail()
    scene.enter(...numbered(20))
    await scene.clock.advance(5625)
    const dead = scene.turns.length
    expect(scene.turns[0]).toBe('closed > half-open')
    const probe = scene.log.filter((entry) => entry.endsWith('sent')).length - 1
    scene.end('failure', `${probe}`)
    expect(scene.turns.slice(dead)).toEqual(['half-open > open'])
    await scene.clock.advance(2000)
    scene.enter('back')
    scene.end('success', 'back')
    expect(scene.turns.slice(dead + 1)).toEqual(['open > half-open', 'half-open > closed'])
  })

  it('refuses a call that has not come to the gate yet, and counts it', async () => {
    const scene = new Scene()
    scene.fail()
    expect(scene.gate.refuseCall()).toBeUndefined()
    await scene.clock.advance(5625)
    expect(scene.gate.refuseCall()).toBeUndefined()
    scene.enter('probe')
    scene.end('failure', 'probe')
    expect(scene.gate.refuseCall()).toBe(scene.clock.now() + 2000)
    expect(scene.gate.state.refused).toBe(1)
  })
})

it('a gate is clear while a call would go at once, and idle while nothing is under way', () => {
  const scene = new Scene({ limits: { ...LIMITS, concurrency: 1 } })
  expect([scene.gate.isClear, scene.gate.isIdle]).toEqual([true, true])
  scene.enter('a', 'b')
  expect([scene.gate.isClear, scene.gate.isIdle]).toEqual([false, false])
  scene.enterAs('kept', { kind: 'kept' })
  expect([scene.gate.waiting, scene.gate.waitingKept]).toEqual([2, 1])
  scene.leave('kept')
  scene.end('success', 'a')
  scene.end('success', 'b')
  expect([scene.gate.isClear, scene.gate.isIdle]).toEqual([true, true])
})

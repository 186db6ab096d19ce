import { describe, expect, it } from 'vitest'
import { PATIENCE_MS } from '../../../../src/client/gate/gate-limits.ts'
import { type GateState, newGateState } from '../../../../src/client/gate/gate-state.ts'
import { Gates, type GatesTerms } from '../../../../src/client/gate/gates.ts'
import type { RequestOutcome } from '../../../../src/client/gate/record-outcome.ts'
import { createRetryBudget, OriginStates } from '../../../../src/client/gate/retry-budget.ts'
import type { Entry, Sent, Ticket } from '../../../../src/client/gate/waiting-line.ts'
import { type ManualClock, manualClock } from '../../../../src/testing/manual-clock.ts'
import { LIMITS } from './gate-model.ts'

const A = 'https://a.example'
const B = 'https://b.example'

/** The gates of one client, and what its peers hear. */
class Scene {
  readonly clock: ManualClock
  readonly told: { readonly origin: string; readonly state: GateState }[] = []
  readonly turns: string[] = []
  readonly gates: Gates

  constructor(states = new OriginStates(LIMITS.budget), more: Partial<GatesTerms> & { clock?: ManualClock } = {}) {
    this.clock = more.clock ?? manualClock()
    this.gates = new Gates(states, {
      breaker: LIMITS.breaker,
      clock: this.clock,
      random: () => 0.5,
      tellPeers: (origin, state) => void this.told.push({ origin, state }),
      onBreaker: (origin, from, to) => void this.turns.push(`${origin} ${from} > ${to}`),
      ...more,
    })
  }

  /** The answer; undefined: it waits, and `answers` has it later. */
  enter(origin: string, kind: Ticket['kind'] = 'call', answers: Entry[] = []): Entry | undefined {
    const ticket: Ticket = { kind, leaveAt: this.clock.now() + 30_000, called: (entry) => void answers.push(entry) }
    const gate = this.gates.of(origin)
    const entry = gate.enter(ticket)
    if (!entry) gate.join(ticket)
    return entry
  }

  try(origin: string, outcome: RequestOutcome, kind: Ticket['kind'] = 'call'): void {
    const sent = this.enter(origin, kind)
    if (sent?.is !== 'sent') throw new Error(`${kind} ${sent?.is}`)
    this.gates.of(origin).report(sent, { outcome, tookMs: 10 })
  }

  fail(origin: string): void {
    for (let count = 0; count < 3; count++) this.try(origin, 'failure')
  }
}

const newState = (clock: ManualClock): GateState => newGateState(LIMITS, clock.now())

describe('the gates of a client', () => {
  it('show an origin without a gate, and make none for it', () => {
    const states = new OriginStates(LIMITS.budget)
    const scene = new Scene(states)
    expect(scene.gates.view(A)).toMatchObject({ state: 'healthy', waiting: 0, tokens: 2, reason: undefined })
    expect([[...scene.gates.entries()], [...states.entries()]]).toEqual([[], []])
    scene.fail(A)
    expect(scene.gates.view(A)).toMatchObject({ state: 'failing', inFlight: 0 })
    expect([...scene.gates.entries()].map(([origin]) => origin)).toEqual([A])
    // Another client with the same states has seen it too.
    expect(new Scene(states).gates.view(A)).toMatchObject({ state: 'failing' })
  })

  it('know how many connections the platform has to each origin', () => {
    const scene = new Scene(undefined, { connectionsTo: (origin) => (origin === A ? 1 : 2) })
    expect([scene.enter(A)?.is, scene.enter(A)?.is]).toEqual(['sent', undefined])
    expect([scene.enter(B)?.is, scene.enter(B)?.is, scene.enter(B)?.is]).toEqual(['sent', 'sent', undefined])
  })

  it('are one for each origin', () => {
    const scene = new Scene()
    expect(scene.gates.find(A)).toBeUndefined()
    expect(scene.gates.of(A)).toBe(scene.gates.of(A))
    expect(scene.gates.find(A)).toBe(scene.gates.of(A))
    scene.fail(A)
    expect([scene.gates.of(A).phase, scene.gates.of(B).phase]).toEqual(['failing', 'healthy'])
  })

  it('share what is known with those of another client that has the same budget, and no queue', () => {
    const states = createRetryBudget() as OriginStates
    const clock = manualClock()
    const [one, other] = [new Scene(states, { clock }), new Scene(states, { clock })]
    one.fail(A)
    expect(other.gates.of(A).phase).toBe('failing')
    expect(one.enter(A)).toBeUndefined()
    expect([one.gates.of(A).waiting, other.gates.of(A).waiting]).toEqual([1, 0])
  })

  it('have the limits of the client, and its dice and clock', () => {
    const { gates } = new Scene(undefined, { concurrency: 7, perSecond: 9 })
    expect(gates.limits).toEqual({ ...LIMITS, concurrency: 7, perSecond: 9 })
  })

  it('tell of the breaker of each origin', async () => {
    const scene = new Scene()
    scene.fail(A)
    await scene.clock.advance(5625)
    scene.try(A, 'failure')
    expect(scene.turns).toEqual([`${A} closed > open`])
  })

  it('are a thousand at most but for those that are in use, and no more is known of what is well', () => {
    const scene = new Scene()
    const held = scene.enter('https://held.example') as Sent
    for (let index = 0; index < 3000; index++) scene.try(`https://${index}.example`, 'success')
    const known = Array.from({ length: 3000 }, (_, index) => scene.gates.find(`https://${index}.example`))
    expect(known.filter((gate) => gate !== undefined)).toHaveLength(999)
    expect(scene.gates.find('https://held.example')?.inFlight).toBe(1)
    scene.gates.of('https://held.example').report(held, { outcome: 'success', tookMs: 10 })
    expect([...scene.gates.takeChanged()]).toEqual([])
    expect(scene.told).toEqual([])
  })

  it('know of more origins than a thousand while these are unwell, and tell the journal of a thousand', () => {
    const states = new OriginStates(LIMITS.budget)
    const scene = new Scene(states)
    for (let index = 0; index < 1500; index++) scene.fail(`https://${index}.example`)
    expect([...states.entries()]).toHaveLength(1500)
    const changed = [...scene.gates.takeChanged()].map(({ origin }) => origin)
    expect([changed.length, changed[0], changed.at(-1)]).toEqual([1000, 'https://500.example', 'https://1499.example'])
  })
})

describe('the journal and the peers', () => {
  it('hear of an origin while it is unwell and once it is well again, and then no more', async () => {
    const scene = new Scene()
    const changed = (): string[] => [...scene.gates.takeChanged()].map(({ origin }) => origin)
    scene.try(A, 'success')
    scene.try(A, 'failure')
    scene.try(A, 'failure')
    expect([scene.told.length, changed()]).toEqual([0, []])
    scene.try(A, 'failure')
    expect([scene.told.at(-1), changed(), changed()]).toEqual([{ origin: A, state: scene.gates.of(A).state }, [A], []])
    await scene.clock.advance(50)
    scene.try(A, 'success')
    expect([scene.told.at(-1)?.state.failures, changed()]).toEqual([0, [A]])
    scene.told.length = 0
    scene.try(A, 'success')
    expect([scene.told.length, changed()]).toEqual([0, []])
  })

  it('are told for how long it is worth knowing', () => {
    const scene = new Scene()
    scene.fail(A)
    const level = scene.gates.of(A).state
    const { limits } = scene.gates
    expect([...scene.gates.takeChanged()]).toEqual([
      { origin: A, level: { ...level, limits }, until: scene.clock.now() + 300_000 },
    ])
  })

  it('bring what they know, which counts at once for those who wait', async () => {
    const [one, other] = [new Scene(), new Scene()]
    one.fail(A)
    other.gates.restore(A, one.gates.of(A).state)
    expect(other.gates.of(A).phase).toBe('failing')
    const answers: Entry[] = []
    expect(other.enter(A, 'call', answers)).toBeUndefined()
    other.gates.restore(A, { ...newState(other.clock), succeededAt: other.clock.now() + 1 })
    expect(answers).toMatchObject([{ is: 'sent' }])
  })

  it('hear of what was sent and what came of it, and not of each other’s hearing', async () => {
    const clock = manualClock()
    const said: string[] = []
    const tabs: Scene[] = []
    const tellPeers = (origin: string, state: GateState): void => {
      said.push(origin)
      clock.after(1, () => {
        for (const { gates } of tabs) if (gates.of(origin).state !== state) gates.restore(origin, state)
      })
    }
    for (let count = 0; count < 3; count++) tabs.push(new Scene(undefined, { clock, tellPeers }))
    const [one] = tabs
    one?.fail(A)
    await clock.advance(2)
    for (const tab of tabs) tab.enter(A)
    await clock.advance(10)
    // The third failure.
    expect(said).toHaveLength(1)
  })

  it('are merged with what is known here', () => {
    const scene = new Scene()
    scene.fail(A)
    scene.gates.restore(A, { ...newState(scene.clock), tokens: 0.5 })
    expect(scene.gates.of(A).state).toMatchObject({ failures: 3, tokens: 0.5 })
  })

  it('bring nothing that is no state, or too old', () => {
    const states = new OriginStates(LIMITS.budget)
    const scene = new Scene(states)
    const now = scene.clock.now()
    scene.gates.restore(A, { tokens: 'none' })
    scene.gates.restore(A, { ...newState(scene.clock), tokens: 0, at: now - 300_000 })
    expect(states.get(A)).toBeUndefined()
    scene.gates.restore(A, { ...newState(scene.clock), tokens: 0, at: now - 299_999 })
    expect(states.get(A)?.tokens).toBe(0)
  })
})

describe('a resume', () => {
  it('takes nothing up for an origin of which some wait already, or would for long', () => {
    const scene = new Scene()
    const held = (keptAt: number): void => scene.gates.restore(B, { ...newState(scene.clock), gapMs: 100, keptAt })
    expect(scene.gates.rooms()).toEqual(new Map())
    for (let count = 0; count < 3; count++) scene.enter(A, 'kept')
    scene.enter('https://calls.example')
    expect(scene.gates.rooms()).toEqual(new Map([[A, 'full']]))
    held(scene.clock.now() + PATIENCE_MS)
    expect(scene.gates.rooms().get(B)).toBe('one')
    expect(scene.gates.heldOrigins()).toEqual([A])
    held(scene.clock.now() + PATIENCE_MS + 1)
    expect(scene.gates.rooms().get(B)).toBe('full for long')
    expect(new Set(scene.gates.heldOrigins())).toEqual(new Set([A, B]))
  })

  it('takes one operation up at a time for an origin that is failing', () => {
    const scene = new Scene()
    scene.fail(A)
    expect(scene.gates.rooms()).toEqual(new Map([[A, 'one']]))
    scene.try(B, 'success')
    expect(scene.gates.rooms().get(B)).toBeUndefined()
  })

  it('that is asked for sends one of each origin at once, also without a token', () => {
    const scene = new Scene()
    const slow = { ...newState(scene.clock), gapMs: 60_000, keptAt: scene.clock.now() + 4000, tokens: 0 }
    scene.gates.restore(A, slow)
    scene.gates.restore(B, slow)
    const answers: Entry[] = []
    expect([scene.enter(A, 'kept', answers), scene.enter(A, 'kept', answers)]).toEqual([undefined, undefined])
    scene.gates.hurry()
    expect(answers.map(({ is }) => is)).toEqual(['sent'])
    expect(scene.enter(B, 'kept')?.is).toBe('sent')
  })

  it('that wakes up ends the pause between kept operations, and gives no token', () => {
    const scene = new Scene()
    const now = scene.clock.now()
    const slow = { ...newGateState(scene.gates.limits, now), gapMs: 60_000, keptAt: now + 4000 }
    scene.gates.restore(A, slow)
    scene.gates.restore(B, { ...slow, tokens: 0 })
    const answers: Entry[] = []
    expect([scene.enter(A, 'kept', answers), scene.enter(B, 'kept', answers)]).toEqual([undefined, undefined])
    scene.gates.wake()
    expect(answers.map(({ is }) => is)).toEqual(['sent'])
    expect(scene.gates.of(B).waitingKept).toBe(1)
  })

  it('that is asked for takes no credit away', () => {
    const scene = new Scene()
    for (let count = 0; count < 5; count++) scene.try(A, 'success', 'kept')
    const { credit } = scene.gates.of(A).state
    scene.gates.hurry()
    expect(scene.gates.of(A).state.credit).toBe(credit)
  })
})

describe('a bucket that processes share', () => {
  const sharedBudget: NonNullable<GatesTerms['sharedBudget']> = { take: async () => true, deposit: () => {} }

  it('is none by default, and none without a budget', () => {
    expect(new Scene(undefined, { sharedBudget }).gates.sharedBudget).toBe(sharedBudget)
    expect(new Scene().gates.sharedBudget).toBeUndefined()
    expect(new Scene(new OriginStates(false), { sharedBudget }).gates.sharedBudget).toBeUndefined()
  })

  it('that has no token leaves this client none, and its peers hear of it', () => {
    const scene = new Scene(undefined, { sharedBudget })
    scene.gates.drain(A)
    expect([scene.gates.of(A).state.tokens, scene.told.length]).toEqual([0, 1])
    expect(scene.gates.of(B).state.tokens).toBe(2)
  })
})

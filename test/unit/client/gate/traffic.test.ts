import { expect, it } from 'vitest'
import type { RequestKind } from '../../../../src/client/gate/gate-state.ts'
import { TrafficCount, type Traveller } from '../../../../src/client/gate/traffic.ts'
import { seededRandom } from '../../../../src/testing/seeded-random.ts'

const KINDS = ['call', 'retry', 'kept'] as const

/** Counts by looking at all of them. */
class Roll {
  readonly travellers: (Traveller & { readonly turn: number })[] = []
  turn = 0
  /** When those were sent that no answer has followed. */
  unanswered: number[] = []

  get traffic(): object {
    const kept = this.travellers.filter(({ kind }) => kind === 'kept').length
    return { inFlight: this.travellers.length, kept, inPhase: this.inPhase, reading: 0 }
  }

  get inPhase(): number {
    return this.travellers.filter(({ turn }) => turn === this.turn).length
  }
}

it.each([1, 2, 3])('the traffic is what a roll of all travellers says, whatever happens (%i)', (seed) => {
  const random = seededRandom(seed)
  const count = new TrafficCount()
  const roll = new Roll()
  const begin = (kind: RequestKind, now: number): void => {
    roll.travellers.push({ kind, phase: count.begin(kind, now), turn: roll.turn })
    roll.unanswered.push(now)
  }
  const end = (isAnswered: boolean): void => {
    const [traveller] = roll.travellers.splice(Math.floor(random() * roll.travellers.length), 1)
    if (!traveller) return
    // It is gone from the roll already, but was of its phase until now.
    const before = roll.inPhase + (traveller.turn === roll.turn ? 1 : 0)
    expect(count.end(traveller, { isAnswered })).toBe(before)
    if (isAnswered) roll.unanswered = []
  }
  for (let now = 1; now < 2000; now++) {
    const dice = random()
    if (dice < 0.5) begin(KINDS[now % 3] ?? 'call', now)
    else if (dice < 0.9) end(random() < 0.3)
    else if (dice < 0.95) {
      count.turnPhase()
      roll.turn++
    } else {
      count.forget()
      roll.unanswered.pop()
    }
    const traffic = count.at(now)
    expect(traffic).toMatchObject({ now, ...roll.traffic })
    expect(traffic.unanswered.count).toBe(roll.unanswered.length)
    if (roll.unanswered.length > 0) expect(traffic.unanswered.since).toBe(roll.unanswered[0])
  }
})

it('nothing is on its way to an origin that is new', () => {
  const nothing = { inFlight: 0, kept: 0, inPhase: 0, reading: 0, unanswered: { count: 0, since: 0 } }
  expect(new TrafficCount().at(7)).toEqual({ now: 7, ...nothing })
})

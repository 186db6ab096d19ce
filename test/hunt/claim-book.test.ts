import { describe, expect, it } from 'vitest'
import { ClaimBook, type ClaimRules, type ServerFacts, type Told } from '../support/claim-book.ts'

const AT = Date.parse('2026-01-01T12:00:00.000Z')
const base: Told = { number: 7, key: 'k-7', by: 'caller', at: AT }
const nothing: ServerFacts = { effectsAt: [], fresh: 0, replayed: 0 }
const once: ServerFacts = { effectsAt: [AT - 1000], fresh: 1, replayed: 0 }
const later: ServerFacts = { effectsAt: [AT + 1000], fresh: 1, replayed: 0 }

interface Case {
  readonly title: string
  readonly told: readonly Partial<Told>[]
  readonly facts: ServerFacts
  readonly rules?: Partial<ClaimRules>
  /** What the one complaint says; undefined: there is none. */
  readonly lie?: string
}

const success = { effect: 'applied', status: 'answered' }
const handled = { by: 'handler', effect: 'applied', status: 'succeeded' } as const

const cases: readonly Case[] = [
  { title: 'a success with an effect', told: [success], facts: once },
  { title: 'a success without one', told: [success], facts: nothing, lie: 'it never took effect' },
  { title: 'a success before its effect', told: [success], facts: later, lie: 'its effect came 1000 ms later' },
  { title: 'none, and there is none', told: [{ effect: 'none', pending: false }], facts: nothing },
  {
    title: 'none after the effect',
    told: [{ effect: 'none', pending: true }],
    facts: once,
    lie: 'it had taken effect 1000 ms before',
  },
  {
    title: 'none for good, and then an effect',
    told: [{ effect: 'none', pending: false }],
    facts: later,
    lie: 'it took effect, 1000 ms after',
  },
  { title: 'none for now, and then an effect', told: [{ effect: 'none', pending: true }], facts: later },
  {
    title: 'none for good, and it was called again',
    told: [{ effect: 'none', pending: false }],
    facts: later,
    rules: { calledAt: () => AT + 500 },
  },
  { title: 'unknown', told: [{ effect: 'unknown', pending: false }], facts: once },
  { title: 'a settlement twice', told: [handled, handled], facts: once },
  {
    title: 'two settlements',
    told: [handled, { ...handled, status: 'failed', effect: 'unknown' }],
    facts: once,
    lie: 'handler was told "failed, unknown"',
  },
  {
    title: 'a success that is settled as failed',
    told: [success, { ...handled, status: 'failed', effect: 'unknown' }],
    facts: once,
    lie: 'caller was told "answered, applied"',
  },
  {
    title: 'an end, and a success after it',
    told: [{ effect: 'unknown', pending: false }, handled],
    facts: once,
    lie: 'caller was told "unknown"',
  },
  { title: 'pending, and a success after it', told: [{ effect: 'unknown', pending: true }, handled], facts: once },
  {
    title: 'replayed, from no record',
    told: [{ ...handled, replayed: true }],
    facts: once,
    lie: 'never answered it from its record',
  },
  {
    title: 'not replayed, from the record',
    told: [{ ...handled, replayed: false }],
    facts: { ...once, fresh: 0, replayed: 1 },
    lie: 'from its record only',
  },
  {
    title: 'two answers of the work itself',
    told: [handled],
    facts: { ...once, fresh: 2 },
    lie: '2 answers that are not marked as replayed',
  },
  {
    title: 'done twice, and nobody says so',
    told: [{ ...handled, mayHaveRepeated: false }],
    facts: { ...once, effectsAt: [AT - 2000, AT - 1000] },
    lie: 'it took effect 2 times',
  },
  {
    title: 'perhaps repeated, by a server that shows nothing',
    told: [{ ...handled, mayHaveRepeated: true }],
    facts: once,
  },
  {
    title: 'perhaps repeated, by a server that shows its keys',
    told: [{ ...handled, mayHaveRepeated: true }],
    facts: once,
    rules: { showsKeys: true },
    lie: 'shows that it honours keys',
  },
]

describe('what callers and handlers are told', () => {
  it.each(cases)('$title', ({ told, facts, rules, lie }) => {
    const book = new ClaimBook()
    for (const one of told) book.tell({ ...base, ...one })
    const wrong = book.falseClaims({ factsOf: () => facts, calledAt: () => 0, showsKeys: false, ...rules })
    expect(wrong).toEqual(lie === undefined ? [] : [expect.stringContaining(lie)])
  })

  it('is complained of with the key, what was told, and when', () => {
    const book = new ClaimBook()
    book.tell({ ...base, effect: 'none', pending: false })
    const [complaint] = book.falseClaims({ factsOf: () => once, calledAt: () => 0, showsKeys: false })
    expect(complaint).toBe(
      'operation 7, key k-7: caller was told "none" at 12:00:00.000; it had taken effect 1000 ms before',
    )
  })

  it('is counted, claim by claim', () => {
    const book = new ClaimBook()
    for (const one of [success, success, { ...handled, replayed: true }]) book.tell({ ...base, ...one })
    expect(book.counts).toEqual({
      'caller: answered, applied': 2,
      'handler: replayed': 1,
      'handler: succeeded, applied': 1,
    })
  })
})

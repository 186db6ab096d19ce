import { type Dice, diceFor } from './dice.ts'
import { type CallPlan, ORIGIN, type OutboxPlan, RUN_DEADLINE_MS, SECOND } from './plan.ts'
import type { Fault } from './vocabulary.ts'

export interface Cast {
  readonly slots: number
  readonly faults: ReadonlySet<Fault>
}

export function drawCalls(
  seed: number | string,
  { slots, faults, origins }: Cast & { readonly origins: readonly string[] },
): CallPlan[] {
  const dice = diceFor(seed, 'calls')
  const calls = Array.from({ length: dice.pick([1, 1, 2, 2, 3]) }, (_, n) => drawCall(dice, { slots, faults, n }))
  const first = calls[0] as CallPlan
  if (faults.has('same-id')) {
    const again = drawCall(diceFor(seed, 'same-id'), { slots, faults, n: 0 })
    calls[0] = { ...first, id: 'order-0' }
    const { label, name, method, withCredentials } = first
    calls.push({ ...again, label, name, method, withCredentials, id: 'order-0' })
  }
  if (faults.has('fresh-signature')) {
    const signed = (call: CallPlan, n: number): CallPlan =>
      call.label === first.label ? { ...call, signature: `s${n}` } : call
    calls.forEach((call, n) => {
      calls[n] = signed(call, n)
    })
  }
  if (faults.has('same-key')) {
    const again = drawCall(diceFor(seed, 'same-key'), { slots, faults, n: 0 })
    const named = calls[0] as CallPlan
    const { label, id, name, method, withCredentials } = named
    calls[0] = { ...named, key: 'own-key-0' }
    calls.push({ ...again, label, id, name, method, withCredentials, key: 'own-key-0' })
  }
  if (faults.has('key-reuse')) {
    const other = drawCall(diceFor(seed, 'key-reuse'), { slots, faults, n: 0 })
    const name = diceFor(seed, 'key-reuse by').pick([{ id: 'order-0' }, { key: 'own-key-0' }] as const)
    calls[0] = { ...(calls[0] as CallPlan), ...name }
    calls.push({ ...other, label: 'other', id: undefined, key: undefined, ...name })
  }
  // The program that exits after a success has an operation that nobody looks for by name.
  if (faults.has('program-exits')) {
    const plain = { id: undefined, key: undefined, name: undefined, retryAfterMs: undefined, abortAfterMs: undefined }
    calls.push({
      ...drawCall(diceFor(seed, 'program-exits'), { slots, faults, n: 5 }),
      ...plain,
      cancelAfterMs: undefined,
    })
  }
  if (faults.has('outbox'))
    calls.push(inOutbox(drawCall(diceFor(seed, 'outbox'), { slots, faults, n: 6 }), diceFor(seed, 'transaction')))
  if (faults.has('lanes')) {
    for (const n of [3, 4]) calls.push(drawCall(diceFor(seed, `lanes ${n}`), { slots, faults, n }))
  }
  // Two uses of one key are most interesting where the second one asks the server again, as only a fetch does.
  const fetchedShare = faults.has('same-key') ? 0.5 : 0.2
  // Calls of one operation mostly come the same way.
  const fetched = new Set(
    calls.map(({ label }) => label).filter((label) => diceFor(seed, `through ${label}`).chance(fetchedShare)),
  )
  return calls.map((drawn, n) => {
    const call = { ...drawn, origin: diceFor(seed, `origin ${drawn.label}`).pick(origins) }
    const isFetch = fetched.has(call.label) !== diceFor(seed, `otherwise ${n}`).chance(0.05)
    if (call.outbox) return call
    return isFetch ? throughFetch(call) : faults.has('lanes') ? inLane(call, diceFor(seed, `lane ${call.label}`)) : call
  })
}

/** Sent while its transaction is open, after it, or about then. */
function inOutbox(call: CallPlan, dice: Dice): CallPlan {
  const outbox: OutboxPlan = {
    database: dice.pick(['sqlite', 'pg']),
    ends: dice.chance(0.8) ? 'commit' : 'rollback',
    endsAfterMs: dice.pick([0, dice.between(0, 50), dice.between(0, 20 * SECOND)]),
    sendsAfterMs: dice.pick([0, dice.between(0, 50), dice.between(0, 30 * SECOND)]),
  }
  return { ...call, id: undefined, key: undefined, outbox }
}

/** Most operations are in one lane, some in another, and some in none. */
function inLane(call: CallPlan, dice: Dice): CallPlan {
  const lane = dice.pick(['lane-0', 'lane-0', 'lane-0', 'lane-1', undefined])
  return { ...call, lane, laneOnFailure: dice.pick(['stop', 'continue']) }
}

/** A fetch knows neither ids nor names, nor a deadline of its own; with a key it is journaled. */
function throughFetch(call: CallPlan): CallPlan {
  const { id, key = `fetch-${call.label}` } = call
  if (id !== undefined) return call
  const plain = { id: undefined, name: undefined, onGiveUp: 'fail', withCredentials: false, reads: 'response' } as const
  return { ...call, ...plain, key, through: 'fetch', deadlineMs: RUN_DEADLINE_MS }
}

function drawCall(dice: Dice, { slots, faults, n }: Cast & { readonly n: number }): CallPlan {
  const call: CallPlan = {
    label: `op${n}`,
    origin: ORIGIN,
    slot: dice.between(0, slots - 1),
    at: dice.pick([0, 0, dice.between(0, 500), dice.between(0, 20 * SECOND), dice.between(0, 60 * SECOND)]),
    id: dice.chance(0.3) ? `order-${n}` : undefined,
    name: dice.chance(0.5) ? 'order' : undefined,
    through: 'verb',
    outbox: undefined,
    method: dice.pick(['post', 'post', 'put', 'patch', 'delete']),
    onGiveUp: dice.chance(0.4) ? 'keep' : 'fail',
    lane: undefined,
    laneOnFailure: 'stop',
    deadlineMs: dice.pick([500, 2 * SECOND, 10 * SECOND, 30 * SECOND, 60 * SECOND]),
    withCredentials: dice.chance(0.06),
    signature: undefined,
    abortAfterMs: dice.between(0, 4 * SECOND),
    cancelAfterMs: dice.between(0, 8 * SECOND),
    retryAfterMs: dice.between(0, 60 * SECOND),
    key: undefined,
    reads: dice.pick(['response', 'json']),
    looksAfterMs: dice.pick([undefined, dice.between(0, 3 * SECOND), dice.between(0, 50 * SECOND)]),
    readsLaterMs: dice.pick([0, dice.between(0, 2 * SECOND), dice.between(0, 20 * SECOND)]),
  }
  // The dice have fallen for all of it, so that taking a fault away changes nothing else.
  const kept = (fault: Fault, chance: number): boolean => dice.chance(chance) && faults.has(fault)
  return {
    ...call,
    abortAfterMs: kept('abort', 0.6) ? call.abortAfterMs : undefined,
    cancelAfterMs: kept('cancel', 0.6) ? call.cancelAfterMs : undefined,
    retryAfterMs: kept('retry-by-key', 0.8) ? call.retryAfterMs : undefined,
  }
}

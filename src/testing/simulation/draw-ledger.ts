import { type Dice, diceFor } from './dice.ts'
import { type LedgerPlan, SECOND } from './plan.ts'
import { type Fault, LEDGER_POINTS } from './vocabulary.ts'

/** Points that few histories come to are aimed at more often. */
const RARE = LEDGER_POINTS.filter((point) =>
  /take-over|renew|release|abandon|complete|committing|in-transaction|reconciling|provider|marked|framework/.test(
    point,
  ),
)
const RAREST = LEDGER_POINTS.filter((point) => point.startsWith('ledger:find'))
const AIMS = [...LEDGER_POINTS, ...RARE, ...RARE, ...Array.from({ length: 6 }, () => RAREST).flat()]

const SHORT_LEASES: readonly Fault[] = ['short-window', 'renewals-starve', 'ledger-cut-off']

/** The server of a history that has the ledger for it. The dice fall in every history alike. */
export function drawLedger(seed: number | string, faults: ReadonlySet<Fault>): LedgerPlan {
  const dice = diceFor(seed, 'ledger')
  const drawn = {
    work: dice.pick(['effect', 'external', 'external'] as const),
    records: dice.pick(['after', 'after', 'in-transaction'] as const),
    reconcile: dice.pick(['asks-the-provider', 'none'] as const),
    provider: dice.pick(['dedups', 'blind', 'blind'] as const),
    replicas: dice.between(1, 2),
    restartAfterMs: dice.pick([0, 500, 10 * SECOND, 40 * SECOND]),
    leaseMs: dice.pick([12 * SECOND, 60 * SECOND]),
    inFlight: dice.pick(['reject', 'reject', 'wait'] as const),
    reapEveryMs: dice.pick([8 * SECOND, 60 * SECOND]),
  }
  // Where renewals are held up, a short lease lapses within the life of a handler.
  const isShort = SHORT_LEASES.some((fault) => faults.has(fault))
  const leaseMs = isShort ? 12 * SECOND : drawn.leaseMs
  return {
    ...drawn,
    leaseMs,
    crashes: faults.has('ledger-crash') ? drawCrashes(diceFor(seed, 'ledger crashes')) : [],
    freezes: faults.has('ledger-freeze') && !isBlind(drawn, faults) ? drawFreezes(diceFor(seed, 'ledger freezes')) : [],
    ...drawShape(diceFor(seed, 'ledger shape')),
    starvations: faults.has('renewals-starve') ? drawHoldUps(diceFor(seed, 'renewals starve'), leaseMs) : [],
    cutOffs: faults.has('ledger-cut-off') ? drawHoldUps(diceFor(seed, 'ledger cut off'), leaseMs) : [],
    strangers: faults.has('duplicate-burst') ? drawStrangers(diceFor(seed, 'strangers')) : [],
  }
}

/** Around the same time as the calls of the clients. */
function drawStrangers(dice: Dice): LedgerPlan['strangers'] {
  return Array.from({ length: dice.between(1, 5) }, () => ({
    at: dice.pick([dice.between(0, 500), dice.between(0, 10 * SECOND)]),
    copies: dice.between(0, 6),
    withinMs: dice.pick([10, 300, 4 * SECOND, 20 * SECOND]),
    patienceMs: dice.pick([SECOND, 5 * SECOND, 15 * SECOND]),
  }))
}

function drawShape(dice: Dice): Pick<LedgerPlan, 'adapter' | 'storeIsLike'> {
  return {
    adapter: dice.pick(['protect', 'framework', 'framework'] as const),
    storeIsLike: dice.pick(['memory', 'postgres', 'postgres'] as const),
  }
}

/**
 * A provider that does a thing each time that it is asked, or a server that may decline what another run has already
 * passed on, and a reconciliation that says of a runner without a lease that it did nothing: such a runner must not come
 * back. One whose lease lapses is aborted by its own clock; one that is frozen wakes without having seen its signal.
 */
function isBlind(
  { work, reconcile, provider }: Pick<LedgerPlan, 'work' | 'reconcile' | 'provider'>,
  faults: ReadonlySet<Fault>,
): boolean {
  const isUnfair = provider === 'blind' || faults.has('declined')
  return work === 'external' && reconcile === 'asks-the-provider' && isUnfair
}

function drawCrashes(dice: Dice): LedgerPlan['crashes'] {
  return Array.from({ length: dice.pick([1, 3, 6, 10]) }, () => ({
    point: dice.pick(AIMS),
    occurrence: dice.pick([1, 1, 1, 1, 2, 3]),
  }))
}

/** For longer than a lease, most of the time. */
function drawHoldUps(dice: Dice, leaseMs: number): LedgerPlan['starvations'] {
  return Array.from({ length: dice.between(1, 2) }, () => ({
    at: dice.pick([dice.between(0, 500), dice.between(0, 5 * SECOND), dice.between(0, 10 * SECOND)]),
    replica: dice.between(0, 1),
    ms: dice.pick([leaseMs / 2, leaseMs * 1.5, leaseMs * 2 + SECOND]),
    calls: dice.pick(['fail', 'hang'] as const),
  }))
}

function drawFreezes(dice: Dice): LedgerPlan['freezes'] {
  return Array.from({ length: dice.between(1, 2) }, () => ({
    at: dice.pick([dice.between(0, 500), dice.between(0, 5 * SECOND), dice.between(0, 60 * SECOND)]),
    replica: dice.between(0, 1),
    ms: dice.pick([3 * SECOND, 14 * SECOND, 70 * SECOND]),
  }))
}

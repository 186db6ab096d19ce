/** What the shop does with an operation, known from its number alone: to the shop that does it and to the judge. */
export type OperationKind =
  /** Done at the first try, unless a process is killed. */
  | 'plain'
  /** Refused for good, after it has written. */
  | 'refused'
  /** Busy most of the time, after it has written. */
  | 'busy'
  /** Takes its time before, inside and after its transaction. */
  | 'slow'
  /** Charges at somebody else's, outside of any transaction of ours. */
  | 'payment'
  /** The whole handler is one transaction: `ledger.atomic`. */
  | 'atomic'

/** As many as have no divisor in common with the other numbers below. */
const KINDS: readonly OperationKind[] = [
  'plain',
  'slow',
  'atomic',
  'refused',
  'payment',
  'plain',
  'busy',
  'atomic',
  'plain',
  'payment',
  'slow',
]

export function kindOf(number: number): OperationKind {
  return KINDS[number % KINDS.length] ?? 'plain'
}

/** Where the shop serves it. */
export function pathOf(number: number): string {
  const kind = kindOf(number)
  if (kind === 'payment') return '/payments'
  return kind === 'atomic' ? '/transfers' : '/orders'
}

/** Long enough for some answers to come in several pieces. */
export function fillingOf(number: number): string {
  return 'x'.repeat(number % 7 === 0 ? 100_000 : 40)
}

/** Two of three have an id: they may be posted again, by anybody, and are the same operation. */
export function hasId(number: number): boolean {
  return number % 3 !== 0
}

/** Why Holdfast stopped (or holds an operation back). Travels with every error, settlement and event. */
export type Reason =
  | 'attempts'
  | 'deadline'
  | 'horizon'
  | 'budget'
  | 'breaker'
  | 'do-not-retry'
  | 'status'
  | 'aborted'
  | 'not-replayable'
  | 'storage'
  | 'key-reuse'
  | 'lease-lost'
  | 'auth'
  | 'poison'
  | 'network'
  | 'lane'

/** Why an operation is as it is: as `Reason`, or no handler has taken its settlement within `retention`. */
export type ViewReason = Reason | 'undelivered'

/** Did it happen? `none`: certainly not. `unknown`: perhaps. `applied`: the server said so. */
export type Effect = 'none' | 'unknown' | 'applied'

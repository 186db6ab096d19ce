import type { Clock } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import type { SharedTimers } from '../../foundation/shared-timers.ts'
import type { Coordination } from '../coordination/port.ts'
import type { Gates } from '../gate/gates.ts'
import type { RecordKeeper } from '../journal/record-keeper.ts'
import type { Fingerprints } from '../operation/fingerprints.ts'
import type { ResolvedOptions } from '../policy/resolved-options.ts'
import type { Transport } from '../transport/port.ts'
import type { Emitter } from './emitter.ts'
import type { Handlers } from './recover/deliver.ts'
import type { LeaseKeeper } from './recover/lease-keeper.ts'
import type { Upkeep } from './recover/upkeep.ts'
import type { AnnouncedHorizons } from './run/announced-horizons.ts'
import type { LearnedCredentials } from './run/attempt-headers.ts'
import type { LiveOperations } from './run/live-operation.ts'
import type { NetworkCheck } from './run/network-check.ts'
import type { Session } from './run/session.ts'

/** The parts of one client. A function takes those that it needs: `Pick<Engine, …>`. */
export interface Engine {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly sharedTimers: SharedTimers
  readonly random: Random
  readonly fingerprints: Fingerprints
  readonly keeper: RecordKeeper
  readonly transport: Transport
  readonly coordination: Coordination
  readonly networkCheck: NetworkCheck
  /** Undefined without an observer, so that `events?.emit({…})` does not even build the event. */
  readonly events: Emitter | undefined
  readonly gates: Gates
  readonly horizons: AnnouncedHorizons
  readonly credentials: LearnedCredentials
  readonly session: Session
  readonly leases: LeaseKeeper
  readonly live: LiveOperations
  readonly handlers: Handlers
  readonly upkeep: Upkeep
  /** Aborts when the client closes. */
  readonly closing: AbortSignal
}

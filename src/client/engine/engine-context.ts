import type { Clock } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import type { Coordination } from '../coordination/port.ts'
import type { RecordKeeper } from '../journal/record-keeper.ts'
import type { ResolvedOptions } from '../policy/resolved-options.ts'
import type { Transport } from '../transport/port.ts'
import type { AnnouncedHorizons } from './announced-horizons.ts'
import type { Background } from './background.ts'
import type { Containments } from './containments.ts'
import type { Counter } from './counter.ts'
import type { ClientCredentials } from './credentials.ts'
import type { Emitter } from './emitter.ts'
import type { Housekeeping } from './engine-lifecycle.ts'
import type { Handlers } from './handlers.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { LiveOperation } from './live-operation.ts'
import type { LiveOperations } from './live-operations.ts'

/** Everything that the engine's parts share; made once per client. */
export interface EngineContext {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly random: Random
  readonly keeper: RecordKeeper
  readonly transport: Transport
  readonly coordination: Coordination
  readonly events: Emitter
  readonly containments: Containments
  readonly horizons: AnnouncedHorizons
  readonly credentials: ClientCredentials
  readonly leases: LeaseKeeper
  readonly live: LiveOperations
  readonly handlers: Handlers
  /** Callers who have no operation yet: each looks whether it has to leave. */
  readonly starting: Set<() => void>
  /** Waiting here for what others work on. */
  readonly followers: Set<LiveOperation>
  /** Deliveries and other work that outlives its call; `flush` waits for it. */
  readonly background: Background
  readonly housekeeping: Housekeeping
  /** The first epoch of each operation that is born here: no two births of one owner share a fence. */
  readonly births: Counter
  /** How often the namespace was forgotten: a call from before that must not be accepted after it. */
  readonly forgets: Counter
  /** Passes of a resume; `close` waits for them. */
  readonly passes: Background
  /** Tells a developer something, where there is a place for it. */
  readonly warn: ((sentence: string) => void) | undefined
  /** Runs work that nobody who is being served waits for: it is not held to what a served request asks. */
  readonly outside: <T>(work: () => T) => T
}

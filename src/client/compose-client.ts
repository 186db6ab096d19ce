import { takeTurn } from '../foundation/clock.ts'
import type { Client } from './client.ts'
import { AnnouncedHorizons } from './engine/announced-horizons.ts'
import { Background } from './engine/background.ts'
import { Containments } from './engine/containments.ts'
import { Counter } from './engine/counter.ts'
import { ClientCredentials } from './engine/credentials.ts'
import { Emitter } from './engine/emitter.ts'
import type { EngineContext } from './engine/engine-context.ts'
import { Housekeeping } from './engine/engine-lifecycle.ts'
import { Handlers } from './engine/handlers.ts'
import { heed } from './engine/hints.ts'
import { LeaseKeeper } from './engine/lease-keeper.ts'
import type { LiveOperation } from './engine/live-operation.ts'
import { LiveOperations } from './engine/live-operations.ts'
import { HoldfastClient } from './holdfast-client.ts'
import { fallbackJournal } from './journal/fallback-journal.ts'
import { memoryJournal } from './journal/memory/memory-journal.ts'
import { persistIn } from './journal/persist-in.ts'
import type { Journal } from './journal/port.ts'
import { RecordKeeper } from './journal/record-keeper.ts'
import type { ClientOptions } from './options.ts'
import type { Platform } from './platform/port.ts'
import { resolveOptions } from './policy/resolve-options.ts'
import type { ResolvedOptions } from './policy/resolved-options.ts'
import { KeyReservations } from './start-call.ts'

/** Puts a client together on a platform: Node's, a browser's, or a simulated one. */
export function composeClient(platform: Platform, options?: ClientOptions): Client {
  const { sendHeaders } = platform
  const resolved = resolveOptions(options, { sendHeaders, pageOrigin: platform.pageOrigin?.() })
  const engine = assemble(platform, resolved)
  const owned = typeof resolved.journal === 'string' || resolved.journal === false
  return new HoldfastClient({
    engine,
    digest: platform.digest,
    inboundContext: platform.inboundContext,
    reservations: new KeyReservations(),
    closing: new AbortController(),
    // A journal that was handed in may be shared; whoever made it closes it.
    closeJournal: () => (owned ? engine.keeper.close() : engine.keeper.idle()),
  })
}

function assemble(platform: Platform, options: ResolvedOptions): EngineContext {
  const { clock, random } = options
  const events = new Emitter(options.observe, clock)
  const outside: EngineContext['outside'] = platform.outside ?? ((work) => work())
  const coordination = platform.coordination()
  const { breaker } = options
  const containments = new Containments(options.budget, { breaker, clock, random, events, coordination })
  const keeper = new RecordKeeper(journalOf(platform, options), {
    encryption: options.encryption,
    onUnreadable: (error, key) => events.tell({ type: 'journal.failed', error, key }),
    levels: containments,
    turn: () => takeTurn(clock),
  })
  const engine: EngineContext = {
    options,
    clock,
    random,
    keeper,
    events,
    transport: platform.transport(options),
    coordination,
    containments,
    horizons: new AnnouncedHorizons(options, events),
    credentials: new ClientCredentials(options),
    leases: new LeaseKeeper(clock, keeper, events),
    live: new LiveOperations(),
    handlers: new Handlers(outside),
    starting: new Set<() => void>(),
    followers: new Set<LiveOperation>(),
    background: new Background(),
    housekeeping: new Housekeeping(),
    births: new Counter(),
    forgets: new Counter(),
    passes: new Background(),
    outside,
    warn: platform.warn,
  }
  engine.leases.onHeld = () => coordination.arrive?.()
  coordination.onHint?.((hint) => heed(engine, hint))
  return engine
}

function journalOf(platform: Platform, { journal }: ResolvedOptions): Journal {
  if (journal === false) return memoryJournal()
  if (journal === 'platform') return lazily(() => platform.defaultJournal())
  if (journal === 'platform-or-memory') return fallbackJournal(() => platform.defaultJournal(), memoryJournal)
  return journal
}

/** The default journal is made when it is first opened: a client that only reads never touches the disk. */
function lazily(make: () => Journal): Journal {
  let journal: Journal | undefined
  const made = (): Journal => {
    journal ??= make()
    return journal
  }
  return {
    get level() {
      return made().level
    },
    open: async () => made().open(),
    execute: (commands) => made().execute(commands),
    close: async () => journal?.close(),
    persistIn: (transaction, row) => persistIn(made(), transaction, row),
  }
}

import { takeTurn } from '../foundation/clock.ts'
import { SharedTimers } from '../foundation/shared-timers.ts'
import type { Client } from './client.ts'
import type { Coordination } from './coordination/port.ts'
import { Emitter } from './engine/emitter.ts'
import type { Engine } from './engine/engine.ts'
import { Handlers } from './engine/recover/deliver.ts'
import { LeaseKeeper } from './engine/recover/lease-keeper.ts'
import { receivePeerMessage, Upkeep } from './engine/recover/upkeep.ts'
import { AnnouncedHorizons } from './engine/run/announced-horizons.ts'
import { LearnedCredentials } from './engine/run/attempt-headers.ts'
import { LiveOperations } from './engine/run/live-operation.ts'
import { NetworkCheck } from './engine/run/network-check.ts'
import { Session } from './engine/run/session.ts'
import { Gates } from './gate/gates.ts'
import { gaugesOf } from './gauges.ts'
import { HoldfastClient } from './holdfast-client.ts'
import { fallbackJournal } from './journal/fallback-journal.ts'
import { memoryJournal } from './journal/memory/memory-journal.ts'
import type { Journal } from './journal/port.ts'
import { RecordKeeper } from './journal/record-keeper.ts'
import { Fingerprints } from './operation/fingerprints.ts'
import type { ClientOptions } from './options.ts'
import type { Platform } from './platform/port.ts'
import { resolveOptions } from './policy/resolve-options.ts'
import type { ResolvedOptions } from './policy/resolved-options.ts'

/** Puts a client together on a platform: Node's, a browser's, or a simulated one. */
export function composeClient(platform: Platform, options?: ClientOptions): Client {
  const { sendHeaders, inboundContext, outside = (work) => work() } = platform
  const resolved = resolveOptions(options, { sendHeaders, pageOrigin: platform.pageOrigin?.() })
  const closing = new AbortController()
  const engine = assemble(platform, resolved, { handlers: new Handlers(outside), closing: closing.signal })
  const { keeper } = engine
  const isOwned = typeof resolved.journal === 'string' || resolved.journal === false
  const stopHearing = engine.coordination.onPeerMessage?.((message) => receivePeerMessage(engine, message))
  const closeJournal = (): Promise<void> => {
    stopHearing?.()
    // A journal that was handed in may be shared; it is closed where it was made.
    return isOwned ? keeper.close() : keeper.idle()
  }
  const client = new HoldfastClient({ engine, closing, closeJournal, passes: new Set(), inboundContext, outside })
  resolved.telemetry?.attach(gaugesOf(engine), closing.signal)
  return client
}

function assemble(platform: Platform, options: ResolvedOptions, given: Pick<Engine, 'handlers' | 'closing'>): Engine {
  const { clock, random, breaker, encryption } = options
  const observe = options.telemetry?.observer(options.observe) ?? options.observe
  const events = observe && new Emitter(observe, clock)
  const journal = journalOf(platform, options)
  const coordination = withPeersOf(journal, platform.coordination())
  const { sharedBudget } = journal
  const transport = platform.transport(options)
  const gates = new Gates(options.budget, {
    ...options.requestLimits,
    breaker,
    clock,
    random,
    sharedBudget,
    connectionsTo: transport.connectionsTo?.bind(transport),
    tellPeers: (key, level) => coordination.notifyPeers?.({ is: 'level', namespace: '', key, level }),
    onBreaker: (origin, from, to) => events?.emit({ type: 'breaker.changed', origin, from, to }),
  })
  const upkeep = new Upkeep(events, platform.warn)
  const fingerprints = new Fingerprints(platform.digest, encryption?.fingerprintKeys?.())
  const keeper = new RecordKeeper(journal, {
    encryption,
    fingerprints,
    redactor: options.redactor,
    onUnreadable: (error, key) => upkeep.reportFailure(key, error),
    onOpened: () => upkeep.pruner.onOpened(engine),
    levels: gates,
    turn: () => takeTurn(clock),
    now: () => clock.now(),
  })
  const engine: Engine = {
    ...given,
    options,
    clock,
    sharedTimers: new SharedTimers(clock),
    random,
    fingerprints,
    keeper,
    transport,
    coordination,
    networkCheck: new NetworkCheck({ clock, coordination, gates, transport }),
    events,
    gates,
    horizons: new AnnouncedHorizons(options, events),
    credentials: new LearnedCredentials(options),
    session: new Session(options),
    leases: new LeaseKeeper({ clock, keeper, events, coordination }),
    live: new LiveOperations(),
    upkeep,
  }
  return engine
}

/** Where the platform has no way to its peers, the journal that they share may have one. */
function withPeersOf(journal: Journal, coordination: Coordination): Coordination {
  if (coordination.onPeerMessage || !journal.onPeerMessage) return coordination
  return {
    ...coordination,
    onPeerMessage: (listener) => journal.onPeerMessage?.(listener) ?? (() => {}),
    notifyPeers: (message) => journal.notifyPeers?.(message),
  }
}

function journalOf(platform: Platform, { journal }: ResolvedOptions): Journal {
  if (journal === false) return memoryJournal()
  if (typeof journal !== 'string') return journal
  // Nothing is opened yet: a client that only reads never touches the disk.
  const platformJournal = platform.defaultJournal()
  return journal === 'platform' ? platformJournal : fallbackJournal(platformJournal, memoryJournal)
}

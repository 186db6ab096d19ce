import type { Journal } from '../../src/client/journal/port.ts'
import { StorageError } from '../../src/errors/classes.ts'
import { type CommandKind, kindOf } from '../../src/testing/command-meaning.ts'
import { faultJournal } from './fault-journal.ts'
import type { Neighbourhood, TestClient } from './shared-clients.ts'

/**
 * A batch is held before it is written, or after that and before its answer comes. `refused`: nothing is written in
 * the end. `lost`: it was written, and in the end nobody can say so.
 */
export type HeldAt = 'before' | 'after' | 'refused' | 'lost'

export interface HeldJournal extends Journal {
  /** Every batch that was asked for, in order. */
  readonly batches: readonly (readonly CommandKind[])[]
  /** The next batch with such a command, and all behind it, wait until the function that comes back is called. */
  hold(kind: CommandKind, at: HeldAt): () => void
}

/** A journal on top of another one, with a disk that takes its time on demand. */
export function heldJournal(inner: Journal): HeldJournal {
  const batches: CommandKind[][] = []
  const holds = new Map<CommandKind, { readonly at: HeldAt; readonly opened: Promise<void> }>()
  return {
    level: inner.level,
    batches,
    hold: (kind, at) => {
      let open = (): void => {}
      const opened = new Promise<void>((resolve) => {
        open = resolve
      })
      holds.set(kind, { at, opened })
      return () => {
        holds.delete(kind)
        open()
      }
    },
    open: () => inner.open(),
    close: () => inner.close(),
    execute: async (batch) => {
      const kinds = batch.map(kindOf)
      batches.push(kinds)
      const held = kinds.map((kind) => holds.get(kind)).find((hold) => hold !== undefined)
      if (held?.at === 'before' || held?.at === 'refused') await held.opened
      if (held?.at === 'refused') throw new StorageError('The disk is full')
      const results = await inner.execute(batch)
      if (held?.at === 'after' || held?.at === 'lost') await held.opened
      if (held?.at === 'lost') throw new StorageError('The connection was lost', { effect: 'unknown' })
      return results
    },
  }
}

/** A client of the neighbourhood whose disk can be held. */
export function clientOnHeldDisk(
  place: Neighbourhood,
  options: Parameters<Neighbourhood['client']>[0] = {},
): { readonly client: TestClient; readonly held: HeldJournal } {
  const held = heldJournal(place.disk)
  const journal = faultJournal(held)
  return { client: Object.assign(place.client({ ...options, journal }), { journal }), held }
}

/** Leaves a pending operation with nobody working on it: kept by a client that could not reach the server. */
export async function leaveKept(place: Neighbourhood, id: string): Promise<string> {
  const weather = place.server.weather
  place.server.weather = () => ({ fault: 'refused' })
  const handle = place.client({ retry: false, onGiveUp: 'keep' }).post('/charges', { id, body: id })
  await handle.catch(() => {})
  place.server.weather = weather
  return handle.key
}

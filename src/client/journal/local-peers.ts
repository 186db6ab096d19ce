import type { PeerMessage } from '../coordination/port.ts'
import type { Journal } from './port.ts'

export type JournalPeers = Required<Pick<Journal, 'notifyPeers' | 'onPeerMessage'>>
type Listener = (message: PeerMessage) => void

/** Of all journals of this process, by their place. Copies of the package share it, as they share a file. */
const SHARED = Symbol.for('holdfast.local-peers')
const here = globalThis as { [SHARED]?: Map<unknown, Set<Listener>> }

/**
 * Hints between the clients of one process that share a journal at this place: a file, or an object in memory. Only those
 * that end the runs of others: what is due, the next poll finds soon enough.
 */
export function localPeers(place: unknown): JournalPeers {
  here[SHARED] ??= new Map()
  const listeners = here[SHARED]
  return {
    notifyPeers(message) {
      if (message.is !== 'settled' && message.is !== 'forgotten') return
      for (const listener of [...(listeners.get(place) ?? [])]) listener(message)
    },
    onPeerMessage(listener) {
      const atPlace = listeners.get(place) ?? new Set()
      listeners.set(place, atPlace.add(listener))
      return () => {
        if (atPlace.delete(listener) && atPlace.size === 0) listeners.delete(place)
      }
    },
  }
}

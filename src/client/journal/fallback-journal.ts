import { persistIn } from './persist-in.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult } from './port.ts'

/** The first journal or, where it cannot open, the second. For callers that allow the loss of durability. */
export function fallbackJournal(first: Journal, second: () => Journal): Journal {
  let chosen: Journal | undefined
  const open = async (): Promise<void> => {
    try {
      await first.open()
      chosen = first
    } catch {
      chosen = second()
      await chosen.open()
    }
  }
  const journal = (): Journal => {
    if (!chosen) throw new TypeError('The journal is not open')
    return chosen
  }
  return {
    get level(): DurabilityLevel {
      return chosen?.level ?? 'memory'
    },
    open,
    execute: (commands: readonly JournalCommand[], now?: number): Promise<JournalResult[]> =>
      journal().execute(commands, now),
    close: async () => chosen?.close(),
    notifyPeers: (message) => first.notifyPeers?.(message),
    onPeerMessage: (listener) => first.onPeerMessage?.(listener) ?? (() => {}),
    persistIn: (transaction, row) => persistIn(journal(), transaction, row),
  }
}

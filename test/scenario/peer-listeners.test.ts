import { expect, it } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'

it('a client that is closed no longer listens to the peers of its journal', async () => {
  let listeners = 0
  const journal = {
    ...memoryJournal(),
    notifyPeers: () => {},
    onPeerMessage: () => {
      listeners++
      return () => void listeners--
    },
  }
  const clients = [1, 2, 3].map(() => createClient({ journal }))
  expect(listeners).toBe(3)
  for (const client of clients) await client.close()
  expect(listeners).toBe(0)
})

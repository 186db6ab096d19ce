import { composeClient } from '../../src/client/compose-client.ts'
import type { Coordination, PeerMessage } from '../../src/client/coordination/port.ts'
import { platform } from '../../src/client/platform/node.ts'
import type { Client, ClientOptions } from '../../src/index.ts'

/** One side of a street: what it is told to be, and a way to make its platform speak. */
export interface FakeCoordination extends Coordination {
  online: boolean
  /** Owners that are to be seen as dead. */
  readonly dead: Set<string>
  looks: number
  wake(): void
}

/** Tabs that hear each other's messages, as over one channel: all but the sender. */
export function street(): { neighbour(): FakeCoordination; readonly said: PeerMessage[] } {
  const listening = new Map<FakeCoordination, Set<(message: PeerMessage) => void>>()
  const said: PeerMessage[] = []
  let count = 0
  const neighbour = (): FakeCoordination => {
    const wakers = new Set<() => void>()
    const ears = new Set<(message: PeerMessage) => void>()
    const self: FakeCoordination = {
      owner: `tab-${++count}`,
      online: true,
      dead: new Set(),
      looks: 0,
      wake() {
        for (const wake of [...wakers]) wake()
      },
      isOnline: () => self.online,
      mayReturn: () => true,
      async findDead(owners) {
        self.looks++
        return owners.filter((owner) => self.dead.has(owner))
      },
      onActive: (listener) => subscribe(wakers, listener),
      onPeerMessage: (listener) => subscribe(ears, listener),
      notifyPeers(message) {
        said.push(message)
        for (const [other, theirs] of listening) if (other !== self) for (const ear of theirs) ear(message)
      },
      leave: () => void listening.delete(self),
    }
    listening.set(self, ears)
    return self
  }
  return { neighbour, said }
}

function subscribe<T>(set: Set<T>, item: T): () => void {
  set.add(item)
  return () => void set.delete(item)
}

/** A client of Node with neighbours of one's choice. */
export function clientBeside(coordination: Coordination, options: ClientOptions): Client {
  return composeClient({ ...platform, coordination: () => coordination }, options)
}

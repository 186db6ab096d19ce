import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Coordination, PeerMessage } from '../../../../src/client/coordination/port.ts'
import { tabPeers } from '../../../../src/client/coordination/tab-peers.ts'
import { FakeLocks, FakeTab, fakeChannels } from '../../../support/fake-tab.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function origin() {
  const locks = new FakeLocks()
  const { Channel, open } = fakeChannels()
  const tab = () => {
    const scope = new FakeTab(locks, Channel)
    return { scope, runner: tabPeers(scope) }
  }
  return { locks, open, tab }
}

async function sees(runner: Coordination, owner: string): Promise<'dead' | 'alive'> {
  await vi.advanceTimersByTimeAsync(0)
  return (await runner.findDead([owner])).includes(owner) ? 'dead' : 'alive'
}

describe('whether a tab is alive', () => {
  it('is shown by the lock that it holds from its first lease on', async () => {
    const { locks, tab } = origin()
    const [a, b] = [tab(), tab()]
    expect(locks.held).toEqual([])
    a.runner.heartbeat?.()
    expect(await sees(b.runner, a.runner.owner)).toBe('alive')
    locks.crash(a.scope)
    expect(await sees(b.runner, a.runner.owner)).toBe('dead')
  })

  it('is asked anew each time: a tab that was opened since the last time is alive', async () => {
    const { tab } = origin()
    const [a, c] = [tab(), tab()]
    c.runner.heartbeat?.()
    expect(await sees(a.runner, c.runner.owner)).toBe('alive')
    const b = tab()
    b.runner.heartbeat?.()
    expect(await sees(a.runner, b.runner.owner)).toBe('alive')
  })

  it('is never doubted of oneself, nor of owners of another kind', async () => {
    const { runner } = origin().tab()
    expect(await sees(runner, runner.owner)).toBe('alive')
    expect(await sees(runner, 'host|1|0|b0b5f2de')).toBe('alive')
    expect(runner.mayReturn?.('host|1|0|b0b5f2de')).toBe(false)
  })

  it('is denied of a page in the back/forward cache, until it is back', async () => {
    const { tab } = origin()
    const [a, b] = [tab(), tab()]
    a.runner.heartbeat?.()
    a.scope.say('pagehide', { persisted: true })
    expect(await sees(b.runner, a.runner.owner)).toBe('dead')
    expect(b.runner.mayReturn?.(a.runner.owner)).toBe(true)
    a.scope.say('pageshow', { persisted: true })
    expect(await sees(b.runner, a.runner.owner)).toBe('alive')
  })

  it('needs no lock when there is no work: it is released a while after the last lease', async () => {
    const { locks, tab } = origin()
    const { runner } = tab()
    runner.heartbeat?.()
    await vi.advanceTimersByTimeAsync(10_000)
    runner.heartbeat?.()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(locks.held).toEqual([runner.owner])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(locks.held).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is over when it leaves, and nothing stays behind', async () => {
    const { locks, open, tab } = origin()
    const { runner, scope } = tab()
    runner.heartbeat?.()
    await vi.advanceTimersByTimeAsync(0)
    runner.leave()
    await vi.advanceTimersByTimeAsync(0)
    runner.heartbeat?.()
    runner.notifyPeers?.({ is: 'pending', namespace: 'default', key: 'k' })
    scope.say('pageshow', { persisted: true })
    expect({ held: locks.held, open: open.size, timers: vi.getTimerCount() }).toEqual({ held: [], open: 0, timers: 0 })
  })

  it('is not judged by a list that came late: a tab may have come back to work since', async () => {
    const owner = origin().tab().runner.owner
    const slow = (ms: number): Coordination => {
      const scope = new FakeTab(new FakeLocks())
      const query = () => new Promise((resolve) => setTimeout(() => resolve({ held: [], pending: [] }), ms))
      scope.navigator.locks = { query } as unknown as LockManager
      return tabPeers(scope)
    }
    const asked = [slow(1000), slow(1001)].map((runner) => runner.findDead([owner]))
    await vi.advanceTimersByTimeAsync(2000)
    expect(await Promise.all(asked)).toEqual([[owner], []])
  })

  it('is left to the lease where there are no locks, or where they cannot be asked', async () => {
    const [a, b] = [tabPeers(new FakeTab()), tabPeers(new FakeTab())]
    a.heartbeat?.()
    expect(await sees(b, a.owner)).toBe('alive')
    const broken = new FakeTab(new FakeLocks())
    const refuse = () => Promise.reject(new Error('not in this document'))
    broken.navigator.locks = { request: refuse, query: refuse } as unknown as LockManager
    const c = tabPeers(broken)
    c.heartbeat?.()
    expect(await sees(c, origin().tab().runner.owner)).toBe('alive')
    c.leave()
  })
})

describe('messages between tabs', () => {
  const message: PeerMessage = { is: 'settled', namespace: 'default', key: 'k' }

  it('reach the other tabs, not oneself, and not a tab that has stopped listening', () => {
    const { tab } = origin()
    const [a, b] = [tab().runner, tab().runner]
    const heard: string[] = []
    a.onPeerMessage?.(() => heard.push('a'))
    const stop = b.onPeerMessage?.(() => heard.push('b'))
    for (const runner of [a, b]) runner.heartbeat?.()
    a.notifyPeers?.(message)
    stop?.()
    a.notifyPeers?.(message)
    expect(heard).toEqual(['b'])
  })

  it('open no channel for a client that does nothing', () => {
    const { open, tab } = origin()
    tab().runner.onPeerMessage?.(() => {})
    expect(open.size).toBe(0)
  })

  it('close the channel in the back/forward cache, where a message would throw the page out', () => {
    const { open, tab } = origin()
    const { runner, scope } = tab()
    runner.onActive(() => {})
    expect(open.size).toBe(1)
    scope.say('pagehide', { persisted: true })
    expect(open.size).toBe(0)
    scope.say('pageshow', { persisted: true })
    expect(open.size).toBe(1)
  })

  it('say that a tab has left once its lock is gone, and only where it had work', async () => {
    const { locks, open, tab } = origin()
    const [a, b] = [tab(), tab()]
    const heard: [PeerMessage, string[]][] = []
    b.runner.onPeerMessage?.((message) => heard.push([message, locks.held]))
    b.runner.onActive(() => {})
    a.runner.onActive(() => {})
    a.scope.say('pagehide', { persisted: true })
    a.scope.say('pageshow', { persisted: true })
    await vi.advanceTimersByTimeAsync(0)
    expect(heard).toEqual([])
    a.runner.heartbeat?.()
    a.scope.say('pagehide', { persisted: true })
    await vi.advanceTimersByTimeAsync(0)
    expect(heard).toEqual([[{ is: 'left', namespace: '', key: a.runner.owner }, []]])
    expect(open.size).toBe(1)
  })

  it('are not taken from other speakers on the channel', () => {
    const { tab } = origin()
    const { runner, scope } = tab()
    let heard = 0
    runner.onPeerMessage?.(() => heard++)
    runner.heartbeat?.()
    const other = scope.BroadcastChannel && new scope.BroadcastChannel('holdfast')
    for (const noise of [null, 'hello', {}, { key: 7 }]) other?.postMessage(noise)
    expect(heard).toBe(0)
  })
})

describe('becoming active', () => {
  it('comes with the network, with being shown again, and out of the back/forward cache', () => {
    const { scope, runner } = origin().tab()
    const active: string[] = []
    let because = ''
    const stop = runner.onActive(() => active.push(because))
    const on = (what: string, happen: () => void) => {
      because = what
      happen()
    }
    on('online', () => scope.say('online'))
    on('visible', () => scope.show('visible'))
    on('hidden', () => scope.show('hidden'))
    on('first load', () => scope.say('pageshow', { persisted: false }))
    on('back', () => scope.say('pageshow', { persisted: true }))
    stop()
    on('stopped', () => scope.say('online'))
    expect(active).toEqual(['online', 'visible', 'back'])
  })

  it('is told to all who listen, each of them once, for as long as they do', () => {
    const { scope, runner } = origin().tab()
    const heard: string[] = []
    const same = (): void => void heard.push('same')
    const stops = [runner.onActive(same), runner.onActive(same), runner.onActive(() => heard.push('other'))]
    scope.say('online')
    expect(heard.splice(0)).toEqual(['same', 'same', 'other'])
    stops[0]?.()
    stops[0]?.()
    scope.say('online')
    expect(heard.splice(0)).toEqual(['same', 'other'])
    for (const stop of stops) stop()
    scope.say('online')
    expect(heard).toEqual([])
    runner.onActive(same)
    scope.say('online')
    expect(heard).toEqual(['same'])
  })

  it('knows the network by its absence, as the platform says it', () => {
    const { scope, runner } = origin().tab()
    expect(runner.isOnline?.()).toBe(true)
    scope.navigator.onLine = false
    expect(runner.isOnline?.()).toBe(false)
  })

  it('comes with a network that was found, which counts until the platform says anew that there is none', () => {
    const { scope, runner } = origin().tab()
    scope.navigator.onLine = false
    let wakes = 0
    runner.onActive(() => wakes++)
    runner.foundOnline?.()
    expect([wakes, runner.isOnline?.()]).toEqual([1, true])
    scope.say('offline')
    expect([wakes, runner.isOnline?.()]).toEqual([1, false])
  })

  it('works where there is neither a document nor a navigator, as in some workers', () => {
    const runner = tabPeers(new EventTarget())
    runner.onActive(() => {})()
    expect(runner.isOnline?.()).toBe(true)
    runner.leave()
  })
})

it('a tab that hears the others may pause for five seconds; one that cannot hear them may not', () => {
  expect(origin().tab().runner.longestPauseMs).toBe(5000)
  expect(tabPeers(new EventTarget()).longestPauseMs).toBeUndefined()
})

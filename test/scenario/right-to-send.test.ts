import { describe, expect, it } from 'vitest'
import type { ClientOptions, Journal } from '../../src/index.ts'
import { type CommandKind, kindOf } from '../../src/testing/command-meaning.ts'
import { street } from '../support/fake-coordination.ts'
import { on } from '../support/fault-journal.ts'
import { neighbourhood, outcome, settle, type TestClient } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

/** Two tabs: the first attempt of one waits, the other has its say meanwhile. */
function twoTabs(options: ClientOptions = {}) {
  const place = neighbourhood()
  const { neighbour } = street()
  const [mine, theirs] = [neighbour(), neighbour()]
  return { ...place, place, mine, theirs, tab: place.client(options, mine), other: place.client({}, theirs) }
}

const kinds = (tab: TestClient, kind: CommandKind): number =>
  tab.journal.commands.filter((command) => kindOf(command) === kind).length
const renewals = (tab: TestClient): number => kinds(tab, 'renew')
const changes = (tab: TestClient): number => kinds(tab, 'commit')

/** `headers` that take as long as the test wants. */
function slowHeaders() {
  const waiting: (() => void)[] = []
  const headers = (): Promise<Record<string, string>> =>
    new Promise((resolve) => waiting.push(() => resolve({ 'x-own': '1' })))
  const make = (): void => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { headers, make }
}

describe('a first attempt that had to wait for the network', () => {
  async function offline(options: ClientOptions = {}) {
    const tabs = twoTabs(options)
    tabs.mine.online = false
    const handle = tabs.tab.post('/charges', { body: 'one' })
    const call = outcome(handle)
    await settle(tabs.clock)
    const comeOnline = async (): Promise<void> => {
      tabs.mine.online = true
      tabs.mine.wake()
      await tabs.clock.advance(2000)
    }
    return { ...tabs, key: handle.key, call, comeOnline }
  }

  it('is not sent where another tab has cancelled its operation, and its caller hears so', async () => {
    const { other, key, call, comeOnline, server } = await offline()
    expect(await other.cancel(key)).toBeTruthy()
    await comeOnline()
    expect(server.calls).toHaveLength(0)
    expect((await call).error).toMatchObject({ reason: 'aborted', effect: 'unknown', pending: false })
  })

  it('ends when the cancellation is heard of, still offline', async () => {
    const { other, key, call, clock, server } = await offline()
    await other.cancel(key)
    await settle(clock)
    expect((await call).error).toMatchObject({ reason: 'aborted' })
    expect(server.calls).toHaveLength(0)
  })

  it('is not sent where another tab has forgotten everything', async () => {
    const { other, call, comeOnline, server } = await offline()
    expect(await other.forget()).toBe(1)
    await comeOnline()
    expect(server.calls).toHaveLength(0)
    expect((await call).error).toBeDefined()
  })

  it('is not sent where another tab has taken it over and finished it, as from a page in the back/forward cache', async () => {
    const { other, mine, theirs, call, comeOnline, server } = await offline()
    theirs.dead.add(mine.owner)
    expect(await other.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await comeOnline()
    expect(server.calls).toHaveLength(1)
    expect((await call).value?.status).toBe(201)
    expect(totalEffects(server)).toBe(1)
  })

  it('costs a renewal, and no other write', async () => {
    const waited = await offline()
    await waited.comeOnline()
    await waited.call
    const plain = twoTabs()
    await plain.tab.post('/charges', { body: 'one' })
    await settle(plain.clock)
    // Two: the lease keeper renews what it has when a page becomes active.
    expect(renewals(waited.tab) - renewals(plain.tab)).toBe(2)
    expect(changes(waited.tab)).toBe(changes(plain.tab))
  })
})

describe('an attempt whose headers took long', () => {
  async function making(options: ClientOptions = {}) {
    const { headers, make } = slowHeaders()
    const tabs = twoTabs({ headers, ...options })
    const handle = tabs.tab.post('/charges', { body: 'one' })
    const call = outcome(handle)
    await settle(tabs.clock)
    const made = async (): Promise<void> => {
      make()
      await tabs.clock.advance(2000)
    }
    return { ...tabs, key: handle.key, call, made }
  }

  it('is not sent where another tab has cancelled its operation meanwhile', async () => {
    const { other, key, call, made, server } = await making()
    expect(await other.cancel(key)).toBeTruthy()
    await made()
    expect(server.calls).toHaveLength(0)
    expect((await call).error).toMatchObject({ reason: 'aborted', effect: 'unknown', pending: false })
  })

  it('is not sent where another tab has forgotten everything meanwhile', async () => {
    const { other, call, made, server } = await making()
    await other.forget()
    await made()
    expect(server.calls).toHaveLength(0)
    expect((await call).error).toBeDefined()
  })

  it('is not sent where the journal cannot be asked: the caller gets a StorageError', async () => {
    const { tab, call, made, server } = await making()
    tab.journal.fault = on('renew', 'fail')
    await made()
    expect(server.calls).toHaveLength(0)
    expect((await call).error).toMatchObject({ name: 'StorageError' })
  })

  it('is sent where nobody else has said anything', async () => {
    const { call, made, server } = await making()
    await made()
    expect((await call).value?.status).toBe(201)
    expect(server.calls).toHaveLength(1)
  })

  it('writes nothing more where an async function made them at once', async () => {
    const token = async (): Promise<string> => 'one'
    const plain = twoTabs({ headers: { 'x-own': 'one' } })
    const quick = twoTabs({ headers: async () => ({ 'x-own': await token() }) })
    for (const { tab, clock } of [plain, quick]) {
      await tab.post('/charges', { body: 'one' })
      await settle(clock)
    }
    expect(renewals(quick.tab)).toBe(0)
    expect(changes(quick.tab)).toBe(changes(plain.tab))
  })
})

describe('a page that was frozen while its record was written', () => {
  it('sends nothing where another tab has cancelled the operation meanwhile', async () => {
    const { place, clock, server, other, mine, disk } = twoTabs()
    const frozen: Journal = {
      ...disk,
      execute: async (commands) => {
        const results = await disk.execute(commands)
        if (commands.some((command) => command.do === 'append')) await clock.sleep(3000)
        return results
      },
    }
    const handle = place.client({ journal: frozen }, mine).post('/charges', { body: 'one' })
    const call = outcome(handle)
    await clock.advance(1000)
    expect(await other.cancel(handle.key)).toBeTruthy()
    await clock.advance(5000)
    expect(server.calls).toHaveLength(0)
    expect((await call).error).toMatchObject({ reason: 'aborted' })
  })
})

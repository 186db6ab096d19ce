import { beforeAll, describe, expect, it } from 'vitest'
import { closeAtEnd } from '../support/closing.ts'
import { type ApiFate, countingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import type { PageClientOptions } from '../support/page-driver.ts'
import { servePages } from '../support/serve-pages.ts'
import { openTab, type Tab } from '../support/tab.ts'

const RENDERER_EACH = { flags: ['--process-per-tab', '--disable-features=ProcessPerSiteUpToMainFrameThreshold'] }

/** The clocks of both tabs go ten times as fast as the world's: a lease is three seconds. */
const SPEED = 10
const LEASE_MS = 30_000 / SPEED
const RENEWAL_MS = LEASE_MS / 3

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch(RENDERER_EACH)
})

async function scene() {
  const pages = await servePages()
  const api = await countingApi()
  const url = pages.origin + pages.page()
  const options: PageClientOptions = {
    baseUrl: api.origin,
    speed: SPEED,
    deadline: '30m',
    attemptTimeout: '20m',
    retry: { base: 60_000, cap: 60_000, jitter: 'none' },
    listen: 'charge',
  }
  const [frozen, other] = [await openTab(browser, url), await openTab(browser, url)]
  const [caller, heir] = [await frozen.createClient(options), await other.createClient(options)]
  const pid = await browser.rendererOf(frozen.page)
  expect(pid).not.toBe(await browser.rendererOf(other.page))
  const wake = (): boolean => process.kill(pid, 'SIGCONT')
  // What stands still can't be closed; what is closed does not slow the next ones down.
  closeAtEnd(async () => {
    wake()
    await Promise.all([frozen.page.close(), other.page.close()])
  })
  return { api, frozen, other, caller, heir, freeze: () => process.kill(pid, 'SIGSTOP'), wake }
}

/** All operations that the journal holds, as text; what is known of an origin may change with each answer. */
const rows = (tab: Tab): Promise<string> =>
  tab.page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
    const database = await done(indexedDB.open('holdfast'))
    const found = await done(database.transaction('records').objectStore('records').getAll())
    database.close()
    return JSON.stringify(found.filter(({ namespace }: { namespace: string }) => namespace !== ''))
  })

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Freeze {
  readonly when: string
  readonly fate: ApiFate
  /** The server's answer comes while nobody is there to take it. */
  readonly isAnswered?: true
}

const freezes: readonly Freeze[] = [
  { when: 'before the server worked, and answered in its sleep', fate: 'hang', isAnswered: true },
  { when: 'after the server worked, and answered in its sleep', fate: 'work-and-hang', isAnswered: true },
  { when: 'while the server is silent', fate: 'hang' },
  { when: 'between two attempts', fate: 'unavailable' },
]

describe('a tab that is frozen for longer than its lease', () => {
  it.each(freezes)('$when, is succeeded, and changes nothing when it wakes', async ({ fate, isAnswered }) => {
    const { api, frozen, other, caller, heir, freeze, wake } = await scene()
    await other.ask('keepResuming', heir.number)
    api.next(fate)
    const start = performance.now()
    const call = await caller.post('/charges', { json: { amount: 5 }, name: 'charge' })
    await api.until(({ requests }) => requests === 1)
    // Its record says so by then.
    if (fate === 'unavailable') await frozen.page.waitForFunction(hasWaited)
    freeze()
    await api.until(({ requests }) => requests === 2)
    // Not before: a tab that stands still has its lock, and may be alive.
    expect(performance.now() - start).toBeGreaterThan(LEASE_MS)
    await expect.poll(() => other.ask('settlements')).toHaveLength(1)
    await expect.poll(() => rows(other)).toContain('"owner":null')
    const before = await rows(other)

    if (isAnswered) api.release()
    wake()

    expect(await call.outcome()).toMatchObject({ is: 'answered', status: 201, text: '{"number":1}' })
    await pause(2 * RENEWAL_MS)
    expect(api.keys.get(call.key)).toMatchObject({ requests: 2, effects: 1 })
    expect(api.complaints).toEqual([])
    expect(await rows(other)).toBe(before)
    expect(await other.ask('settlements')).toHaveLength(1)
    expect(await frozen.ask('settlements')).toEqual([])
  })
})

/** Runs in the page. */
function hasWaited(): boolean {
  const { holdfastDriver } = globalThis as unknown as { holdfastDriver: { events(): string[] } }
  return holdfastDriver.events().includes('operation.waiting')
}

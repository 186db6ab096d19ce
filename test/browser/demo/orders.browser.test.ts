import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launch, type TestBrowser } from '../support/launch.ts'
import { type ShopUnderTest, startShop } from './shop-under-test.ts'

let browser: TestBrowser
let shop: ShopUnderTest

beforeAll(async () => {
  browser = await launch()
})

beforeEach(async () => {
  shop = await startShop(browser)
})

afterEach(() => {
  expect(shop.faults).toEqual([])
})

describe('the shop page', () => {
  it('shows an order that goes through, with one attempt, and the server has it once', async () => {
    const tab = await shop.openTab()
    await tab.order('Coffee beans')
    const [order] = await tab.untilStates('succeeded')
    expect(order).toMatchObject({ attempts: 1, timeLine: 'attempt 1: 201' })
    expect(order?.steps.map((step) => step.replace(/^\S+ s /, ''))).toEqual([
      'ordered in tab A',
      "accepted: on this browser's disk",
      expect.stringMatching(/^attempt 1 by tab A: 201 after \d\.\d s$/),
      'settled: succeeded',
    ])
    await expect.poll(() => tab.ledger()).toEqual([{ order: order?.order, requests: 1, taken: 1 }])
    await expect.poll(() => tab.page.getByRole('status').textContent()).toContain('succeeded after one attempt')
  })

  it('makes several attempts at a flaky server, and each order is taken once', async () => {
    const tab = await shop.openTab()
    await tab.turn('flaky')
    await tab.order('Chocolate')
    await tab.order('Green tea')
    const [second, first] = await tab.untilStates('succeeded', 'succeeded')
    expect(first?.timeLine).toBe('attempt 1: 503, wait, attempt 2: no answer, wait, attempt 3: 201')
    expect(second?.timeLine).toBe('attempt 1: no answer, wait, attempt 2: 503, wait, attempt 3: 201')
    expect(shop.api.ledger.requests).toHaveLength(6)
    expect(Object.values(shop.taken)).toEqual([1, 1])
  })

  it('shows the same time lines after a reload', async () => {
    const tab = await shop.openTab()
    for (const product of ['Coffee beans', 'Green tea', 'Chocolate', 'Stoneware mug']) await tab.order(product)
    const before = await tab.untilStates('succeeded', 'succeeded', 'succeeded', 'succeeded')
    await tab.page.reload()
    expect(await tab.untilStates('succeeded', 'succeeded', 'succeeded', 'succeeded')).toEqual(before)
  })

  it('goes on while the server is down, and ends when it is back', async () => {
    const tab = await shop.openTab()
    await tab.turn('down')
    await tab.order('Green tea')
    await expect.poll(async () => (await tab.orders())[0]?.attempts, { timeout: 20_000 }).toBeGreaterThan(1)
    expect(shop.taken).toEqual({})
    await tab.turn('healthy')
    await tab.untilStates('succeeded')
    expect(Object.values(shop.taken)).toEqual([1])
  })

  it('finishes after a reload what was under way before it', async () => {
    const tab = await shop.openTab()
    const reloaded = tab.page.waitForEvent('framenavigated')
    await tab.page.getByRole('button', { name: 'Reload mid-order' }).click()
    await reloaded
    const [order] = await tab.untilStates('succeeded')
    expect(order?.attempts).toBe(2)
    expect(order?.steps.join()).toMatch(/tab A was left or reloaded.*taken up again by tab A.*settled: succeeded/)
    expect(shop.api.ledger.requests).toHaveLength(2)
    expect(Object.values(shop.taken)).toEqual([1])
  })

  it('finishes in another tab what a killed one had under way', async () => {
    const [tab, other] = [await shop.openTab(), await shop.openTab()]
    await tab.order('Stoneware mug')
    await expect.poll(() => shop.api.ledger.requests.length).toBe(1)
    await browser.killRenderer(tab.page)
    const [order] = await other.untilStates('succeeded')
    expect(order?.timeLine).toContain('taken up again: tab B')
    expect(Object.values(shop.taken)).toEqual([1])
  })

  it('shows in every tab what one of them does', async () => {
    const [tab, other] = [await shop.openTab(), await shop.openTab()]
    expect(await other.page.getByText('This is tab B').count()).toBe(1)
    await tab.order('Coffee beans')
    const [here] = await tab.untilStates('succeeded')
    const [there] = await other.untilStates('succeeded')
    expect(there).toEqual(here)
    const late = await shop.openTab()
    expect(await late.untilStates('succeeded')).toEqual([here])
    expect(shop.api.ledger.requests).toHaveLength(1)
  })

  it('opens a second tab from its link', async () => {
    const tab = await shop.openTab()
    const opened = browser.context.waitForEvent('page')
    await tab.page.getByRole('link', { name: 'Open a second tab' }).click()
    const second = await opened
    await expect.poll(() => second.getByText('This is tab B').count()).toBe(1)
    await second.close()
  })
})

describe('a tab that is offline', () => {
  it('sends nothing while it pretends to be, and finishes when it is back', async () => {
    const tab = await shop.openTab()
    await tab.page.getByRole('button', { name: 'Go offline' }).click()
    await tab.order('Green tea')
    const [waiting] = await tab.untilStates('waiting')
    expect(waiting).toMatchObject({ attempts: 0, timeLine: 'wait' })
    expect(shop.api.ledger.requests).toEqual([])
    await tab.page.getByRole('button', { name: 'Go online again' }).click()
    const [done] = await tab.untilStates('succeeded')
    expect(done?.attempts).toBe(1)
    expect(Object.values(shop.taken)).toEqual([1])
  })

  it('sends nothing while it is, and finishes when it is back', async () => {
    const tab = await shop.openTab()
    await browser.context.setOffline(true)
    await tab.page.getByText('offline', { exact: true }).waitFor()
    await tab.order('Green tea')
    const [waiting] = await tab.untilStates('waiting')
    expect(waiting?.attempts).toBe(0)
    await browser.context.setOffline(false)
    const [done] = await tab.untilStates('succeeded')
    expect(done?.attempts).toBe(1)
    expect(Object.values(shop.taken)).toEqual([1])
  })
})

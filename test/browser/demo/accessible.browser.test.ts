import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeAtEnd } from '../support/closing.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import { lowContrasts } from './contrast.ts'
import { type ShopTab, type ShopUnderTest, startShop } from './shop-under-test.ts'

let browser: TestBrowser
let shop: ShopUnderTest
/** Has something of everything: done at once, done at last, waiting, and one unfolded. */
let page: Page

beforeAll(async () => {
  browser = await launch()
  page = (await busyTab(await startShop(browser))).page
})

beforeEach(async () => {
  shop = await startShop(browser)
})

async function busyTab(shop: ShopUnderTest): Promise<ShopTab> {
  const tab = await shop.openTab()
  await tab.order('Coffee beans')
  await tab.untilStates('succeeded')
  await tab.turn('flaky')
  await tab.order('Chocolate')
  await tab.untilStates('succeeded', 'succeeded')
  await tab.turn('down')
  await tab.order('Green tea')
  await tab.page.locator('.order[data-attempts="5"]').waitFor()
  await tab.page.locator('summary').nth(1).click()
  return tab
}

describe('the shop page', () => {
  it('takes an order from the keyboard alone', async () => {
    const { page } = await shop.openTab()
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
    for (let presses = 0; presses < 10 && (await focused()) !== 'Order green tea'; presses++) {
      await page.keyboard.press('Tab')
    }
    expect(await focused()).toBe('Order green tea')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
    expect(outline).toBe('solid')
    await page.keyboard.press('Enter')
    await page.locator('.order[data-state=succeeded]').waitFor()
    expect(Object.values(shop.taken)).toEqual([1])
  })

  it('turns the switch from the keyboard', async () => {
    const { page } = await shop.openTab()
    await page.getByRole('radio', { name: 'healthy' }).focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => shop.api.ledger.mode).toBe('flaky')
  })

  it('has a name for every control, and landmarks', async () => {
    const nodes = await accessibilityTree(page)
    const controls = nodes.filter(({ role }) =>
      ['button', 'link', 'radio', 'DisclosureTriangle', 'image'].includes(role),
    )
    expect(controls.length).toBeGreaterThan(12)
    expect(controls.filter(({ name }) => name === '')).toEqual([])
    const places = nodes.filter(({ role }) => ['banner', 'main', 'region', 'status'].includes(role))
    expect(places.map(({ role, name }) => `${role} ${name}`.trim())).toEqual(
      expect.arrayContaining([
        'banner',
        'main',
        'region Products',
        'region Make trouble',
        "region The server's ledger",
      ]),
    )
  })

  it('has headings in order', async () => {
    const levels = await page
      .locator('h1, h2, h3, h4, h5, h6')
      .evaluateAll((all) => all.map(({ tagName }) => Number(tagName[1])))
    expect(levels.filter((level) => level === 1)).toEqual([1])
    expect(levels.every((level, index) => level <= (levels[index - 1] ?? 0) + 1)).toBe(true)
  })

  it('can be read, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await lowContrasts(page), colorScheme).toEqual([])
    }
  })

  it('fits a wide screen and a phone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-shop-'))
    closeAtEnd(async () => (process.env.KEEP_SCREENSHOTS ? console.log(folder) : rmSync(folder, { recursive: true })))
    for (const [name, width] of [
      ['wide', 1440],
      ['laptop', 1200],
      ['tablet', 820],
      ['phone', 360],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      const tooWide = await page
        .locator('html, .panel, .order, fieldset')
        .evaluateAll((all) =>
          all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ className }) => className),
        )
      expect(tooWide, name).toEqual([])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: true })
      }
    }
  })
})

async function accessibilityTree(page: Page): Promise<{ role: string; name: string }[]> {
  const session = await browser.context.newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name }) => ({ role: String(role?.value), name: String(name?.value ?? '') }))
}

import { beforeAll, describe, expect, it } from 'vitest'
import { launch } from '../support/launch.ts'
import { go, type InspectedPage, inspectShop, violations } from './inspected-page.ts'

const PENDING = '8e3f0a7b-1d22-4c1f-9b66-0f2a7e4b6e66'

let shop: InspectedPage

beforeAll(async () => {
  shop = await inspectShop(await launch())
})

/** Each view, with something open and unfolded where it can be. */
const VIEWS: readonly (readonly [hash: string, selector: string])[] = [
  [`#/operations?open=${PENDING}`, '.attempts'],
  ['#/operations', '.rows'],
  ['#/origins', 'meter'],
  ['#/ledger?open=transfer%3A77&openScope=shop-7', '.detail'],
]

describe('the inspector', () => {
  it.each([
    { place: 'a desk', size: { width: 1360, height: 860 }, colorScheme: 'light' },
    { place: 'a phone', size: { width: 360, height: 740 }, colorScheme: 'dark' },
  ] as const)('has nothing that axe-core finds wrong, on $place in the $colorScheme', async ({ size, colorScheme }) => {
    const { page } = shop
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(size)
    for (const [hash, selector] of VIEWS) {
      await go(page, hash, selector)
      if (selector === '.attempts') await page.locator('[data-key=request] summary').click()
      expect(await violations(page), hash).toEqual([])
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(width, `${hash} scrolls sideways`).toBeLessThanOrEqual(size.width)
    }
    await page.getByRole('button', { name: 'Decide…' }).click()
    expect(await violations(page), 'a dialog').toEqual([])
    await page.keyboard.press('Escape')
  })

  it('is used from the keyboard alone', async () => {
    const { page } = shop
    await page.setViewportSize({ width: 1360, height: 860 })
    await go(page, '#/operations', '.rows')
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
    for (let presses = 0; presses < 25 && (await focused()) !== 'POST /messages'; presses++) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.locator('.detail').waitFor()
    await expect.poll(focused).toBe('POST /messages')
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H2')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.detail').count()).toBe(0)
    // Back on the row that it came from.
    expect(await page.evaluate(() => document.activeElement?.closest('tr')?.dataset.key)).toBe(PENDING)
  })

  it('stands still for readers who asked for less motion', async () => {
    const { page } = shop
    await go(page, '#/operations', '[data-in-flight]')
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    const turning = () =>
      page
        .locator('[data-in-flight]')
        .first()
        .evaluate((mark) => getComputedStyle(mark, '::before').animationName)
    expect(await turning()).toBe('turn')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await turning()).toBe('none')
  })
})

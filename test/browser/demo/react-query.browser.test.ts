import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { closeAtEnd } from '../support/closing.ts'
import { launch, type TestBrowser } from '../support/launch.ts'

interface Shop {
  readonly origin: string
  readonly requests: readonly string[]
  readonly taken: readonly { readonly number: string; readonly product: string }[]
  close(): Promise<void>
}

/** The example as its reader starts it, with the package in dist. */
async function startShop(): Promise<Shop> {
  const example = new URL('../../../examples/09-react-query/server.mjs', import.meta.url)
  const { startShop: start } = (await import(example.href)) as { startShop(): Promise<Shop> }
  const shop = await start()
  closeAtEnd(() => shop.close())
  return shop
}

const PATIENTLY = { timeout: 25_000 }

const shown = (page: Page): Promise<(string | undefined)[][]> =>
  page.locator('li').evaluateAll((items) =>
    items.map((item) => {
      const { order, status } = (item as HTMLElement).dataset
      return [order, status]
    }),
  )

let browser: TestBrowser
beforeAll(async () => {
  browser = await launch()
})

describe('a mutation of TanStack Query', () => {
  it('survives a reload: it is shown as pending again, goes on with its key, and is done once', async () => {
    const shop = await startShop()
    const page = await browser.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.goto(shop.origin)
    await page.getByRole('checkbox').check()
    await page.getByRole('button').click()
    await expect.poll(() => shop.requests.length, PATIENTLY).toBeGreaterThan(0)
    const [order] = await shown(page)
    expect(order?.[1]).toBe('pending')

    await page.reload()
    await expect.poll(() => shown(page), PATIENTLY).toEqual([order])
    await page.getByRole('checkbox').check()
    await page.getByRole('checkbox').uncheck()
    await expect.poll(() => shown(page), PATIENTLY).toEqual([[order?.[0], 'success']])

    expect(new Set(shop.requests).size).toBe(1)
    expect(shop.taken).toEqual([{ number: order?.[0], product: 'loaf' }])
    expect(faults).toEqual([])
  })
})

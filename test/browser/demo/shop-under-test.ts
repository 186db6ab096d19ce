import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { inject } from 'vitest'
import { closeAtEnd } from '../support/closing.ts'
import type { TestBrowser } from '../support/launch.ts'

export type Mode = 'healthy' | 'flaky' | 'down'

interface Taken {
  readonly key: string
  readonly order: string
  readonly product: string
}

interface Api {
  readonly origin: string
  readonly ledger: { mode: Mode; readonly taken: readonly Taken[]; readonly requests: readonly { key: string }[] }
  allow(origin: string): void
  close(): Promise<void>
}

interface PageServer {
  readonly origin: string
  close(): Promise<void>
}

/** An order as a tab shows it. */
export interface ShownOrder {
  readonly key: string
  readonly order: string
  readonly state: string
  readonly attempts: number
  /** What the time line is called for those who do not see it. */
  readonly timeLine: string
  readonly steps: readonly string[]
}

/** The example's servers, with the build under test; each has an origin of its own, and with it a storage of its own. */
export async function startShop(browser: TestBrowser): Promise<ShopUnderTest> {
  const example = new URL('../../../examples/03-browser/', import.meta.url)
  const { startApi } = (await import(new URL('api.mjs', example).href)) as { startApi(): Promise<Api> }
  const { startPages } = (await import(new URL('server.mjs', example).href)) as {
    startPages(options: { api: string; client: URL }): Promise<PageServer>
  }
  const api = await startApi()
  const pages = await startPages({ api: api.origin, client: pathToFileURL(`${inject('packageUnderTest')}/`) })
  api.allow(pages.origin)
  closeAtEnd(async () => {
    await pages.close()
    await api.close()
  })
  return new ShopUnderTest(browser, api, pages.origin)
}

export class ShopUnderTest {
  readonly #browser: TestBrowser
  readonly api: Api
  readonly origin: string
  /** What a page threw, or its policy refused. */
  readonly faults: string[] = []

  constructor(browser: TestBrowser, api: Api, origin: string) {
    this.#browser = browser
    this.api = api
    this.origin = origin
  }

  async openTab(): Promise<ShopTab> {
    const page = await this.#browser.newPage()
    page.on('pageerror', (error) => this.faults.push(String(error)))
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) this.faults.push(message.text())
    })
    closeAtEnd(() => page.close())
    await page.goto(this.origin)
    await page
      .getByText('No order taken yet')
      .or(page.getByText(/taken, 0 twice/))
      .waitFor()
    return new ShopTab(page)
  }

  /** How often each order was taken, by its name. */
  get taken(): Record<string, number> {
    const times: Record<string, number> = {}
    for (const { order } of this.api.ledger.taken) times[order] = (times[order] ?? 0) + 1
    return times
  }
}

export class ShopTab {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  order(product: string): Promise<void> {
    return this.page.getByRole('button', { name: `Order ${product.toLowerCase()}` }).click()
  }

  async turn(mode: Mode): Promise<void> {
    const turned = this.page.waitForResponse((response) => response.url().endsWith('/switch') && response.ok())
    // Not check(): the page shows what the server says, and for a moment that is what it was before.
    await this.page.getByRole('radio', { name: mode }).click()
    await turned
  }

  /** Newest first. */
  orders(): Promise<ShownOrder[]> {
    return this.page.locator('.order').evaluateAll((cards) =>
      cards.map((card) => {
        const { key = '', order = '', state = '', attempts } = (card as HTMLElement).dataset
        const timeLine = card.querySelector('.track')?.getAttribute('aria-label') ?? ''
        const steps = [...card.querySelectorAll('.steps li')].map(({ textContent }) => textContent ?? '')
        return { key, order, state, attempts: Number(attempts), timeLine, steps }
      }),
    )
  }

  /** Waits until the newest orders are so, newest first. */
  async untilStates(...states: string[]): Promise<ShownOrder[]> {
    const wanted = states.join()
    await this.page.waitForFunction(
      (text) => [...document.querySelectorAll<HTMLElement>('.order')].map((card) => card.dataset.state).join() === text,
      wanted,
      { timeout: 50_000 },
    )
    return this.orders()
  }

  /** The ledger's rows: order, requests, times taken. */
  ledger(): Promise<{ order: string; requests: number; taken: number }[]> {
    return this.page.locator('#ledger tr').evaluateAll((rows) =>
      rows.map((row) => {
        const { order = '', requests, taken } = (row as HTMLElement).dataset
        return { order, requests: Number(requests), taken: Number(taken) }
      }),
    )
  }
}

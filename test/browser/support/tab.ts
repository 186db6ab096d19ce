import type { Page } from 'playwright-core'
import type { ResumeReport } from '../../../src/index.ts'
import type { TestBrowser } from './launch.ts'
import type { Driver, PageCallOptions, PageClientOptions, PageOutcome } from './page-driver.ts'

/** Opens a page that has the driver. */
export async function openTab(browser: TestBrowser, url: string): Promise<Tab> {
  const page = await browser.newPage()
  const tab = new Tab(page)
  await page.goto(url)
  return tab
}

type Answered<K extends keyof Driver> = Promise<Awaited<ReturnType<Driver[K]>>>

/** A page with the driver, as the test sees it. What it knows of the page is void once the page is loaded anew. */
export class Tab {
  readonly page: Page
  /** What the page's policy has refused. */
  readonly violations: string[] = []
  /** What was thrown in the page and caught by nobody. */
  readonly uncaught: string[] = []

  constructor(page: Page) {
    this.page = page
    page.on('console', (message) => {
      if (/Content.Security.Policy|Trusted/i.test(message.text())) this.violations.push(message.text())
    })
    page.on('pageerror', (error) => this.uncaught.push(String(error)))
  }

  async createClient(options: PageClientOptions): Promise<PageClient> {
    return new PageClient(this, await this.ask('createClient', options))
  }

  /** Leaves everything that runs in the page and starts it again. */
  async reload(): Promise<void> {
    await this.page.reload()
  }

  async ask<K extends keyof Driver>(what: K, ...args: Parameters<Driver[K]>): Promise<Awaited<Answered<K>>> {
    const question = [++questions, what, args] as const
    for (;;) {
      try {
        return (await this.page.evaluate(answer, question as unknown)) as Awaited<Answered<K>>
      } catch (error) {
        // The debugger does not keep alive what it waits for; the page does, and is asked for it again.
        if (!/promise was garbage collected/i.test(String(error))) throw error
      }
    }
  }
}

let questions = 0

/**
 * Runs in the page. In a turn of its own, because the one that a debugger starts is free of the page's policy. Asked
 * with the same number again it gives the same promise.
 */
function answer(question: unknown): Promise<unknown> {
  const [number, what, args] = question as [number, string, unknown[]]
  const page = globalThis as unknown as {
    holdfastDriver: Record<string, (...args: unknown[]) => unknown>
    holdfastAnswers?: Map<number, Promise<unknown>>
  }
  page.holdfastAnswers ??= new Map()
  let answered = page.holdfastAnswers.get(number)
  if (!answered) {
    answered = new Promise((ready) => setTimeout(ready)).then(() => page.holdfastDriver[what]?.(...args))
    page.holdfastAnswers.set(number, answered)
  }
  return answered
}

/** A client in a page. */
export class PageClient {
  readonly tab: Tab
  readonly number: number

  constructor(tab: Tab, number: number) {
    this.tab = tab
    this.number = number
  }

  post(url: string, options: PageCallOptions = {}): Promise<PageCall> {
    return this.request('POST', url, options)
  }

  /** Resolves as soon as the call is on its way. */
  async request(method: string, url: string, options: PageCallOptions = {}): Promise<PageCall> {
    const [number, key] = await this.tab.ask('start', this.number, { method, url, options })
    return new PageCall(this.tab, number, key)
  }

  resume(): Promise<ResumeReport> {
    return this.tab.ask('resume', this.number, {})
  }
}

/** A call of a client in a page. */
export class PageCall {
  readonly tab: Tab
  readonly number: number
  readonly key: string

  constructor(tab: Tab, number: number, key: string) {
    this.tab = tab
    this.number = number
    this.key = key
  }

  /** Resolves with the level of durability, once the record has it. */
  accepted(): Promise<string> {
    return this.tab.ask('accepted', this.number)
  }

  outcome(): Promise<PageOutcome> {
    return this.tab.ask('outcome', this.number)
  }

  abort(): Promise<PageOutcome & { readonly afterMs: number }> {
    return this.tab.ask('abort', this.number)
  }
}

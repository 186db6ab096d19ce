import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { createClient, createRetryBudget, memoryJournal } from '../../../src/index.ts'
import { type InspectorOptions, startInspector } from '../../../src/inspector/index.ts'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'
import { closeAtEnd } from '../support/closing.ts'
import type { TestBrowser } from '../support/launch.ts'
import { type Doors, type SampleShop, startShop } from './sample-shop.ts'

/** The package from its sources. */
export const doors: Doors = {
  createClient,
  createRetryBudget,
  memoryJournal,
  createLedger,
  json,
  memoryLedger,
  startInspector,
}

export interface InspectedPage extends SampleShop {
  readonly page: Page
  /** What the browser complained about: scripts, styles or requests that the policy forbids, and errors. */
  readonly complaints: readonly string[]
}

/** The sample shop, and its inspector in a page. */
export async function inspectShop(browser: TestBrowser, options: InspectorOptions = {}): Promise<InspectedPage> {
  const shop = await startShop(doors, options)
  closeAtEnd(shop.close)
  return { ...shop, ...(await openInspector(browser, shop.inspector.url)) }
}

export async function openInspector(
  browser: TestBrowser,
  url: string,
): Promise<Pick<InspectedPage, 'page' | 'complaints'>> {
  const page = await browser.newPage()
  closeAtEnd(() => page.close())
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(url)
  await page.locator('.title').waitFor()
  return { page, complaints }
}

/** Leads the page to one of its addresses, and waits for what stands there. */
export async function go(page: Page, hash: string, selector: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.locator(selector).first().waitFor()
}

/** The texts of a column, row by row, without what stands below them. */
export function column(page: Page, selector: string): Promise<string[]> {
  return page.locator(`.rows tbody ${selector}`).allTextContents()
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** What axe-core finds wrong with the page as it is: each rule, and the elements that break it. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync('node_modules/axe-core/axe.min.js', 'utf8'))
  const result = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } }).axe.run({
      resultTypes: ['violations'],
    }),
  )
  return result.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

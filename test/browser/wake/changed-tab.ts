import type { TestBrowser } from '../support/launch.ts'
import { Tab } from '../support/tab.ts'

/** A tab in which something is changed before anything of it runs. */
export async function openChanged(browser: TestBrowser, url: string, change: () => void): Promise<Tab> {
  const page = await browser.newPage()
  await page.addInitScript(change)
  const tab = new Tab(page)
  await page.goto(url)
  return tab
}

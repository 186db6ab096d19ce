import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import type { TestBrowser } from '../support/launch.ts'
import { type Pages, servePages } from '../support/serve-pages.ts'
import type { JournalPage } from './journal-page.ts'

const HTML = '<!doctype html><title>journal</title><script src="/journal-page.js"></script>'

/** Serves pages that have journals to play with. */
export async function serveJournalPages(): Promise<Pages> {
  const pages = await servePages()
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./journal-page.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    conditions: ['browser'],
  })
  pages.script('/journal-page.js', outputFiles[0]?.text ?? '')
  return pages
}

/** A tab with journals in it. */
export class JournalTab {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  static async open(browser: TestBrowser, pages: Pages, policy?: string): Promise<JournalTab> {
    const page = await browser.newPage()
    await page.goto(pages.origin + pages.page({ html: HTML, ...(policy && { policy }) }))
    return new JournalTab(page)
  }

  ask<K extends keyof JournalPage>(what: K, ...args: Parameters<JournalPage[K]>): ReturnType<JournalPage[K]> {
    return this.page.evaluate(
      ([name, given]) => {
        const { journalPage } = globalThis as unknown as { journalPage: Record<string, (...args: unknown[]) => never> }
        return journalPage[name as string]?.(...(given as unknown[]))
      },
      [what, args] as const,
    ) as ReturnType<JournalPage[K]>
  }
}

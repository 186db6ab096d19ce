/* The pictures of docs/guides/inspector.md, of the real page: node_modules/.bin/tsx <this file> [folder]. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, createRetryBudget, memoryJournal } from 'holdfast'
import { startInspector } from 'holdfast/inspector'
import { createLedger, json, memoryLedger } from 'holdfast/server'
import { chromium } from 'playwright-core'
import { findBrowser } from '../support/find-browser.ts'
import { startShop } from './sample-shop.ts'

const folder = process.argv[2] ?? 'docs/pictures'
mkdirSync(folder, { recursive: true })
const doors = { createClient, createRetryBudget, memoryJournal, createLedger, json, memoryLedger, startInspector }
const OPEN = '9f4a1b8c-7e33-4d2a-8c55-1a3b8f5c7f77'

const shop = await startShop(doors)
const browser = await chromium.launch({ executablePath: await findBrowser(), args: ['--no-sandbox'] })
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1360, height: 860 } })
  const take = async (name) => {
    await page.screenshot({ path: join(folder, `inspector-${name}-${colorScheme}.png`) })
  }
  const go = async (hash, selector) => {
    await page.evaluate((to) => {
      location.hash = to
    }, hash)
    await page.locator(selector).first().waitFor()
  }
  await page.goto(shop.inspector.url)
  await page.locator('.rows tbody tr').first().waitFor()
  await take('list')
  await go(`#/operations?open=${OPEN}`, '.detail')
  await page.evaluate(() => document.activeElement?.blur())
  await take('operation')
  if (process.argv[2]) {
    await page.locator('details[data-key=request] summary').click()
    await page
      .getByRole('button', { name: /Show the body/ })
      .first()
      .click()
    await page.locator('.body').first().waitFor()
    await take('body')
    await go('#/origins', '.budget-level')
    await take('origins')
    await go('#/ledger', 'text=Ledger >> nth=1')
    await take('ledger')
    await go('#/ledger?open=transfer%3A77&openScope=shop-7', '.detail')
    await page.getByRole('button', { name: 'Decide…' }).click()
    await take('decide')
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 360, height: 740 })
    await go('#/operations', '.rows')
    await take('phone-list')
    await go('#/operations?open=8e3f0a7b-1d22-4c1f-9b66-0f2a7e4b6e66', '.detail')
    await take('phone-operation')
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await take('phone-cancel')
    await page.keyboard.press('Escape')
    await go('#/origins', '.budget-level')
    await take('phone-origins')
    await go('#/ledger', '.rows')
    await take('phone-ledger')
  }
  await page.close()
}
await browser.close()
await shop.close()
process.exit(0)

/*
 * The pictures of docs/guides/inspector.md, of the real page: `npm run pictures:inspector`. With the name of a folder it
 * takes every view, to be looked at: `tsx test/browser/inspector/take-pictures.mjs <folder>`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, createRetryBudget, memoryJournal } from 'holdfast'
import { startInspector } from 'holdfast/inspector'
import { createLedger, json, memoryLedger } from 'holdfast/server'
import { chromium } from 'playwright-core'
import { findBrowser } from '../support/find-browser.ts'
import { startShop } from './sample-shop.ts'

const [, , folder] = process.argv
const doors = { createClient, createRetryBudget, memoryJournal, createLedger, json, memoryLedger, startInspector }
const DESK = { width: 1240, height: 760 }
const PHONE = { width: 360, height: 740 }
const DONE = '#/operations?open=9f4a1b8c-7e33-4d2a-8c55-1a3b8f5c7f77'
const PENDING = '#/operations?open=8e3f0a7b-1d22-4c1f-9b66-0f2a7e4b6e66'

const VIEWS = [
  ['list', DESK, '#/operations', '.rows'],
  ['origins', DESK, '#/origins', 'meter'],
  ['ledger', DESK, '#/ledger?open=transfer%3A77&openScope=shop-7', '.detail'],
  ['phone-list', PHONE, '#/operations', '.rows'],
  ['phone-operation', PHONE, PENDING, '.detail'],
  ['phone-origins', PHONE, '#/origins', 'meter'],
  ['phone-ledger', PHONE, '#/ledger', '.rows'],
]

const shop = await startShop(doors)
const browser = await chromium.launch({ executablePath: await findBrowser(), args: ['--no-sandbox'] })
const converter = await browser.newPage()
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ colorScheme, viewport: DESK })
  await page.goto(shop.inspector.url)
  await show(page, DONE, '.attempts')
  if (folder === undefined) {
    writeFileSync(`docs/pictures/inspector-${colorScheme}.webp`, await asWebp(await page.screenshot()))
    continue
  }
  mkdirSync(folder, { recursive: true })
  const take = (name) => page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
  await take('operation')
  for (const [name, size, hash, selector] of VIEWS) {
    await page.setViewportSize(size)
    await show(page, hash, selector)
    await take(name)
  }
  await show(page, PENDING, '.detail')
  await page.getByRole('button', { name: 'Cancel…' }).click()
  await take('phone-cancel')
}
await browser.close()
await shop.close()
// A handler of the sample ledger never ends.
process.exit(0)

async function show(page, hash, selector) {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.locator(selector).first().waitFor()
}

/** A quarter of the size of a PNG. */
async function asWebp(png) {
  const url = await converter.evaluate(
    async (source) => {
      const image = new Image()
      image.src = source
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
      canvas.getContext('2d').drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', 0.6)
    },
    `data:image/png;base64,${png.toString('base64')}`,
  )
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}

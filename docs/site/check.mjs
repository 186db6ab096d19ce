// Opens every page of the built site in a real Chromium: no error, no picture that is missing, and what can be tried works.
// Run: npm run docs:check, after npm run docs:build. CHROME_PATH names the browser.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { serve } from 'vitepress'

const SITE = fileURLToPath(new URL('./', import.meta.url))
const PORT = 5199
const { chromium } = createRequire(new URL('../../package.json', import.meta.url))('playwright-core')

await serve({ root: SITE, port: PORT })
const browser = await chromium.launch({
  executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
const page = await browser.newPage()
const wrong = []
page.on('pageerror', (error) => wrong.push(`${page.url()}: ${error.message}`))
page.on(
  'response',
  (response) => response.status() >= 400 && wrong.push(`${page.url()}: ${response.status()} ${response.url()}`),
)

const names = readdirSync(`${SITE}dist`, { recursive: true, encoding: 'utf8' })
const paths = names
  .filter((name) => name.endsWith('.html') && name !== '404.html')
  .map((name) => name.replace(/(index)?\.html$/, ''))
for (const path of paths) {
  await look(path)
  wrong.push(...deadLinks(path))
}
await tryDelays()
await tryHistory()
await search()

await browser.close()
process.stdout.write(`${[`${paths.length} pages`, ...wrong].join('\n')}\n`)
process.exit(wrong.length > 0 ? 1 : 0)

async function look(path) {
  await page.goto(`http://localhost:${PORT}/${path}`, { waitUntil: 'load' })
  if ((await page.locator('.vp-doc h1').count()) !== 1) wrong.push(`${path}: not one heading`)
  const broken = await page.evaluate(() =>
    [...document.images].filter((one) => one.complete && one.naturalWidth === 0).map((one) => one.src),
  )
  wrong.push(...broken.map((source) => `${path}: no picture ${source}`))
}

/** Links of a page whose page or whose heading is not there. */
function deadLinks(path) {
  const here = new URL(path, 'http://site/')
  return [...htmlOf(path).matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, href]) => {
    const { origin, pathname, hash } = new URL(href, here)
    if (origin !== here.origin) return []
    const html = htmlOf(pathname.slice(1))
    const isThere = html !== '' && (hash === '' || html.includes(`id="${decodeURIComponent(hash.slice(1))}"`))
    return isThere ? [] : [`${path}: no ${href}`]
  })
}

function htmlOf(path) {
  const file = `${SITE}dist/${path === '' || path.endsWith('/') ? `${path}index` : path}.html`
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** Without budget and breaker, more requests reach a server that is down. */
async function tryDelays() {
  await page.goto(`http://localhost:${PORT}/try-delays`)
  const cell = page.locator('.numbers td').nth(1)
  const contained = Number(await cell.textContent())
  await page.locator('input[name=budget]').uncheck()
  await page.locator('input[name=breaker]').uncheck()
  await page.waitForFunction(
    (before) => Number(document.querySelector('.numbers td:nth-child(2)')?.textContent) > 10 * before,
    contained,
    { timeout: 60_000 },
  )
}

async function tryHistory() {
  await page.goto(`http://localhost:${PORT}/try-history`)
  await page.locator('button[name=step]').click()
  await page.locator('button[name=end]').click()
  const verdict = await page.locator('.verdict').textContent()
  if (verdict?.trim() !== 'Every promise held.') wrong.push(`try-history: ${verdict}`)
}

async function search() {
  await page.locator('.VPNavBarSearch button').first().click()
  await page.locator('#localsearch-input').fill('circuit breaker')
  await page.locator('.results .result').first().waitFor({ timeout: 60_000 })
}

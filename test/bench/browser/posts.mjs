// Posts per second in Chromium, as a share of plain fetch in the same page.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { compare } from '../support/measure.mjs'
import { runSection } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'

const HTML = '<!doctype html><title>bench</title><script type="module" src="/page.js"></script>'

await runSection(async ({ directory, browserPath, rounds, roundMs }) => {
  const server = await startServer(await makePage(join(directory, 'page')))
  // A profile on the disk: without one Chromium keeps IndexedDB in memory.
  const context = await chromium.launchPersistentContext(join(directory, 'profile'), {
    executablePath: browserPath,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  try {
    const page = await context.newPage()
    await page.goto(`${server.base}/page.html`)
    const names = await page.evaluate(() => globalThis.bench.names)
    const calls = Object.fromEntries(names.map((name) => [name, name]))
    const terms = { title: 'POST in Chromium', baseline: 'fetch', rounds, roundMs, round: roundIn(page) }
    const comparisons = []
    for (const concurrency of [1, 16]) comparisons.push(await compare(calls, { ...terms, concurrency }))
    return { comparisons }
  } finally {
    await context.close()
    server.stop()
  }
})

async function makePage(folder) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'page.html'), HTML)
  await build({
    entryPoints: [fileURLToPath(new URL('./page.mjs', import.meta.url))],
    outfile: join(folder, 'page.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
  return folder
}

/** A round is measured in the page, by the page's clock. */
function roundIn(page) {
  return async (name, terms) => ({
    rate: await page.evaluate((given) => globalThis.bench.measureRound(given), { name, ...terms }),
  })
}

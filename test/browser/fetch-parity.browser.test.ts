import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { compare } from '../fetch-parity/support/compare.ts'
import { casesInPage } from '../fetch-parity/support/in-page.ts'
import { type ParityServers, parityServers } from '../fetch-parity/support/parity-servers.ts'
import type { Run, Turn } from '../fetch-parity/support/run-case.ts'
import { takeTurn } from '../fetch-parity/support/take-turn.ts'
import { closeAtEnd } from './support/closing.ts'
import { launch } from './support/launch.ts'
import { bundled } from './support/page-scripts.ts'

/** Without it the browser asks the name servers of the network, and some of them take seconds. */
const UNKNOWN_HOST = '--host-resolver-rules=MAP nowhere.invalid ~NOTFOUND'

const SCRIPT = `
  import { createClient, memoryJournal } from 'holdfast'
  import { runnerInPage } from './test/fetch-parity/support/in-page.ts'
  globalThis.startParity = (places) => {
    globalThis.runParity = runnerInPage(places, { createClient, memoryJournal })
  }`

let servers: ParityServers
let page: Page
/** Where `globalThis.fetch` is replaced, by one case at a time. */
let installedPage: Page
let inTurn: Promise<unknown> = Promise.resolve()

beforeAll(async () => {
  servers = await parityServers()
  closeAtEnd(() => servers.close())
  servers.file('/page.js', await bundled(SCRIPT))
  servers.file('/page.html', '<!doctype html><title>page</title><script type="module" src="/page.js"></script>')
  const { context } = await launch({ flags: [UNKNOWN_HOST] })
  await context.addCookies([{ name: 'session', value: 'mine', url: servers.places.home }])
  const open = async (): Promise<Page> => {
    const opened = await context.newPage()
    await opened.goto(`${servers.places.home}/page.html`)
    await opened.evaluate((places) => (globalThis as unknown as PageGlobals).startParity(places), servers.places)
    return opened
  }
  page = await open()
  installedPage = await open()
})

interface PageGlobals {
  startParity(places: unknown): void
  runParity(index: number, turn: Turn): Promise<Run>
}

function run(index: number, turn: Turn): Promise<Run> {
  if (turn.subject !== 'installed') return runIn(page, index, turn)
  const run = inTurn.then(() => runIn(installedPage, index, turn))
  inTurn = run.catch(() => {})
  return run
}

function runIn(where: Page, index: number, turn: Turn): Promise<Run> {
  return where.evaluate(([number, who]) => (globalThis as unknown as PageGlobals).runParity(number, who), [
    index,
    turn,
  ] as const)
}

describe.concurrent("client.fetch is like Chromium's fetch", () => {
  for (const [index, parityCase] of casesInPage.entries())
    it(parityCase.name, ({ expect }) =>
      compare(parityCase, {
        platform: 'browser',
        expect,
        run: (subject) => takeTurn(servers, subject, (turn) => run(index, turn)),
      }),
    )
})

it('the table has one case of a name', () => {
  expect(new Set(casesInPage.map(({ name }) => name)).size).toBe(casesInPage.length)
})

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { inject } from 'vitest'
import { closeAtEnd } from './closing.ts'
import { type BrowserProcesses, gone, MARK } from './processes.ts'

export interface LaunchOptions {
  /** The profile of a browser that ran before: its storage is still there. Default: a new one. */
  readonly profile?: string
  /** More flags for the program. */
  readonly flags?: readonly string[]
  /** Pages that are left go into the back/forward cache, as they do for people. Default: they are ended. */
  readonly backForwardCache?: boolean
}

/** Of every browser of a test. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A browser of the test's own; it is closed, and a profile made for it removed, when the test ends. */
export async function launch(options: LaunchOptions = {}): Promise<TestBrowser> {
  const profile = options.profile ?? newProfile()
  const mark = randomUUID()
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: inject('browserPath'),
    headless: true,
    args: [...FLAGS, ...(options.flags ?? [])],
    ignoreDefaultArgs: options.backForwardCache ? ['--disable-back-forward-cache'] : [],
    env: { ...process.env, [MARK]: mark },
  })
  // At first only its mark is known.
  let browser = { mark, pid: 0 }
  closeAtEnd(() => end(context, browser))
  browser = { mark, pid: await mainProcess(context) }
  return new TestBrowser(context, { ...browser, profile })
}

export class TestBrowser implements BrowserProcesses {
  readonly context: BrowserContext
  readonly profile: string
  readonly mark: string
  readonly pid: number

  constructor(context: BrowserContext, place: BrowserProcesses & { readonly profile: string }) {
    this.context = context
    this.profile = place.profile
    this.mark = place.mark
    this.pid = place.pid
  }

  newPage(): Promise<Page> {
    return this.context.newPage()
  }

  /** SIGKILL of all of it at once, as when the memory runs out or somebody pulls the plug. */
  async kill(): Promise<void> {
    const closed = new Promise((resolve) => this.context.once('close', resolve))
    // Its processes are a group of their own, so that none of them lives on for a moment.
    process.kill(-this.pid, 'SIGKILL')
    await closed
    await gone(this)
  }

  /** SIGKILL of the process that the page runs in; other pages of the same site may be in it too. */
  async killRenderer(page: Page): Promise<void> {
    const crashed = page.waitForEvent('crash')
    process.kill(await this.rendererOf(page), 'SIGKILL')
    await crashed
  }

  /**
   * The process of a page. The browser lists its processes and a page tells how much processor time its own has used:
   * it is the one whose count fits. Where several do, the page works a little and is asked again.
   */
  async rendererOf(page: Page): Promise<number> {
    const session = await this.context.newCDPSession(page)
    await session.send('Performance.enable')
    const used = async (): Promise<number> => {
      const { metrics } = await session.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'ProcessTime')?.value ?? 0
    }
    for (let tries = 0; tries < 20; tries++) {
      const before = await used()
      const renderers = (await processesIn(this.context)).filter(({ type }) => type === 'renderer')
      const after = await used()
      const fitting = renderers.filter(({ cpuTime }) => cpuTime >= before - 0.001 && cpuTime <= after + 0.001)
      if (fitting[0] && fitting.length === 1) return fitting[0].id
      await session.send('Runtime.evaluate', { expression: 'for (const end = Date.now() + 30; Date.now() < end; );' })
    }
    throw new Error('No process fits the page')
  }

  close(): Promise<void> {
    return end(this.context, this)
  }
}

async function end(context: BrowserContext, browser: BrowserProcesses): Promise<void> {
  await context.close()
  await gone(browser)
}

function newProfile(): string {
  const profile = mkdtempSync(join(tmpdir(), 'holdfast-browser-'))
  closeAtEnd(async () => rmSync(profile, { recursive: true, force: true }))
  return profile
}

async function mainProcess(context: BrowserContext): Promise<number> {
  const main = (await processesIn(context)).find(({ type }) => type === 'browser')
  if (!main) throw new Error('The browser does not say which process it is')
  return main.id
}

interface ProcessInfo {
  readonly type: string
  readonly id: number
  /** Seconds. */
  readonly cpuTime: number
}

async function processesIn(context: BrowserContext): Promise<ProcessInfo[]> {
  const session = await context.browser()?.newBrowserCDPSession()
  if (!session) return []
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo
}

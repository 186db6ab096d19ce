import type { Page } from 'playwright-core'
import type { CountingApi } from '../support/counting-api.ts'
import { launch, type TestBrowser } from '../support/launch.ts'
import type { Driver } from '../support/page-driver.ts'
import { type PageClient, Tab } from '../support/tab.ts'
import type { Gate } from './gate.ts'
import { type CrashPage, instrument } from './instrument.ts'
import { type Dice, NAME, type Order } from './orders.ts'
import type { Point } from './points.ts'
import { acceptedKeys } from './verdict.ts'

/** How pages die: all at once with their browser, or each alone, while a neighbour lives. */
export type Way = 'browser' | 'renderer'

export interface Scene {
  readonly api: CountingApi
  readonly gate: Gate
  readonly url: string
  readonly way: Way
  readonly dice: Dice
}

export interface Victim {
  readonly name: string
  readonly client: PageClient
  /** The process of its page. */
  readonly pid: number
}

const FLAGS = ['--process-per-tab', '--disable-features=ProcessPerSiteUpToMainFrameThreshold']

/** About as long as an operation takes from the call to the handler. */
const LONGEST_MOMENT_MS = 120

/** Longer than any test: what hangs, hangs until the page is killed. */
const PATIENT = {
  deadline: '5m',
  attemptTimeout: '4m',
  retry: { base: 60_000, cap: 60_000, jitter: 'none' },
  // What is looked for here are losses and doubles; that a client spares a server that fails is judged elsewhere.
  budget: { burst: 1000 },
  breaker: false,
} as const

/** One profile, its pages, and how they are killed. */
export class Victims {
  readonly #scene: Scene
  #browser: TestBrowser | undefined
  #pages = 0

  constructor(scene: Scene) {
    this.#scene = scene
  }

  async open(namespace: string): Promise<Victim> {
    this.#browser ??= await launch({ flags: FLAGS })
    const { gate, url, way } = this.#scene
    const name = `v${this.#pages++}`
    const page = await this.#browser.newPage()
    await page.addInitScript(instrument, gate.originFor(name))
    const tab = new Tab(page)
    await page.goto(url)
    // Asked for now: a page that stands still does not answer.
    const pid = way === 'renderer' ? await this.#browser.rendererOf(page) : 0
    return { name, pid, client: await tab.createClient({ ...PATIENT, namespace, listen: NAME }) }
  }

  /** Puts the orders and waits until those that are aimed at stand at the point. */
  async bringTo(point: Point, victim: Victim, orders: readonly Order[]): Promise<void> {
    const others = orders.filter(({ isTarget }) => !isTarget)
    const { api, gate } = this.#scene
    this.#post(victim, others)
    await until(`${victim.name} with ${others.length} orders on their way`, () => {
      const accepted = acceptedKeys(gate)
      return others.every(({ path }) => accepted.has(path) && requestsAt(api, path) > 0)
    })
    const targets = orders.filter(({ isTarget }) => isTarget)
    this.#post(victim, targets, point)
    await this.#reached(point, victim, { orders, requests: 1 })
  }

  /** Lets the page resume what others left, until it stands at the point. */
  async bringResumerTo(point: Point, victim: Victim, orders: readonly Order[]): Promise<void> {
    const { gate } = this.#scene
    const accepted = acceptedKeys(gate)
    const keys = orders.filter(({ isTarget }) => isTarget).map(({ path }) => accepted.get(path) ?? '')
    const { page } = victim.client.tab
    await page.evaluate(aim, [point, keys] as const)
    await victim.client.tab.ask('keepResuming', victim.client.number)
    await this.#reached(point, victim, { orders, requests: 2 })
  }

  async kill(victims: readonly Victim[]): Promise<number> {
    if (this.#scene.way === 'renderer') {
      for (const { client, pid } of victims) await killProcess(client.tab.page, pid)
      return victims.length
    }
    await this.#browser?.kill()
    this.#browser = await launch({ flags: FLAGS, ...(this.#browser && { profile: this.#browser.profile }) })
    return 1
  }

  /** Not awaited: the page may come to stand still before it has answered. */
  #post({ client: { tab, number } }: Victim, orders: readonly Order[], point?: Point): void {
    const { api } = this.#scene
    const requests = orders.map(({ path, id, name }) => {
      // A host of its own for each page: a browser opens six connections to one, and many requests hang.
      const url = `${api.origin.replace('127.0.0.1', `${path.split('/')[1]}.localhost`)}${path}`
      return { path, url, options: { json: { path, note: 'Grüße' }, ...(id && { id }), ...(name && { name }) } }
    })
    tab.page.evaluate(post, { client: number, requests, point }).catch(() => {})
  }

  async #reached(
    point: Point,
    victim: Victim,
    { orders, requests }: { readonly orders: readonly Order[]; readonly requests: number },
  ): Promise<void> {
    const { api, gate } = this.#scene
    const targets = orders.filter(({ isTarget }) => isTarget)
    const isSent = (): boolean => targets.every(({ path }) => requestsAt(api, path) >= requests)
    if (point === 'sent' || point === 'applied') return until(`${victim.name} at ${point}`, isSent)
    if (point === 'back-off')
      return until(`${victim.name} at ${point}`, async () => isSent() && (await isWaiting(victim, orders)))
    if (point === 'any-moment') return pause(this.#scene.dice.below(LONGEST_MOMENT_MS))
    await until(`${victim.name} at ${point}`, () => gate.hasStopped(victim.name))
  }
}

/** Has it written down that it waits? */
async function isWaiting({ client }: Victim, orders: readonly Order[]): Promise<boolean> {
  const events = await client.tab.ask('events')
  const expected = orders.filter(({ path }) => path.endsWith('unavailable'))
  return events.filter((type) => type === 'operation.waiting').length >= expected.length
}

async function killProcess(page: Page, pid: number): Promise<void> {
  const crashed = page.waitForEvent('crash')
  process.kill(pid, 'SIGKILL')
  await crashed
  await page.close()
}

type InPage = { readonly holdfastDriver: Driver; readonly crashPage: CrashPage }

interface Posting {
  readonly client: number
  readonly requests: readonly { path: string; url: string; options: object }[]
  readonly point: Point | undefined
}

/** Runs in the page. */
function post({ client, requests, point }: Posting): void {
  const { holdfastDriver, crashPage } = globalThis as unknown as InPage
  if (point) crashPage.arm(point)
  for (const { path, url, options } of requests) {
    const [number, key] = holdfastDriver.start(client, { method: 'POST', url, options })
    if (point) crashPage.aimAt([key])
    holdfastDriver.accepted(number).then(
      () => crashPage.say('accepted', `${path} ${key}`),
      () => {},
    )
    holdfastDriver.outcome(number).then((outcome) => {
      const claim = outcome.is === 'failed' ? `${outcome.effect} ${outcome.pending}` : 'applied false'
      crashPage.say('claimed', `${path} ${claim}`)
    })
  }
}

/** Runs in the page. */
function aim([point, keys]: readonly [Point, readonly string[]]): void {
  const { crashPage } = globalThis as unknown as InPage
  crashPage.arm(point)
  crashPage.aimAt(keys)
}

function requestsAt(api: CountingApi, path: string): number {
  return [...api.keys.values()].find((counted) => counted.path === path)?.requests ?? 0
}

const PATIENCE_MS = 20_000

/** Looks again and again; says what it waits for, where it does not come. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !(await isTrue()); await pause(10)) {
    if (performance.now() - start > PATIENCE_MS) throw new Error(`In vain: ${what}`)
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

import type { Client } from '../../client/client.ts'
import type { ResumeReport } from '../../client/engine/recover/resume-report.ts'
import { startBackgroundTimer, systemClock } from '../../foundation/clock.ts'
import { redactText } from '../../observe/redact.ts'
import { type Reply, reply } from '../../server/entry/reply.ts'
import type { InspectedLedger } from './entry-views.ts'
import type { Changed } from './wire.ts'

/** A retry that takes longer is left to itself: the page sees how it ends. */
const PATIENCE_MS = 1000

export async function cancelOperation(client: Client, key: string): Promise<Changed> {
  const isCancelled = await client.cancel(key)
  return { message: isCancelled ? 'Cancelled. It is not sent again.' : 'There was nothing left to cancel.' }
}

export function retryOperation(client: Client, key: string): Promise<Changed> {
  const ended = client.retry(key).then(
    ({ status }) => ({ message: `Done: the server answered ${status}.` }),
    (error: unknown) => ({ message: messageOf(error) }),
  )
  const running = new Promise<Changed>((resolve) => {
    startBackgroundTimer(systemClock, PATIENCE_MS, () => resolve({ message: 'Being attempted now.' }))
  })
  return Promise.race([ended, running])
}

/** A pass of `client.resume()` that the page has started. It may take long, so that nothing waits for it. */
export class ResumePass {
  readonly #client: Client
  isRunning = false
  /** What the last pass said. */
  lastReport: string | undefined

  constructor(client: Client) {
    this.#client = client
  }

  start(): Changed {
    if (this.isRunning) return { message: 'A resume is under way already.' }
    this.isRunning = true
    void this.#run()
    return { message: 'Resume started.' }
  }

  async #run(): Promise<void> {
    this.lastReport = await this.#client.resume().then(sentenceOf, messageOf)
    this.isRunning = false
  }
}

/** What an operator may say of an entry that is `unknown`. */
export type Resolution = 'rerun' | { readonly status: number; readonly body: string }

export async function resolveEntry(
  ledger: InspectedLedger,
  { scope, key }: { readonly scope: string; readonly key: string },
  resolution: Resolution,
): Promise<Changed> {
  const isResolved = await ledger.resolve?.(scope, key, outcomeOf(resolution))
  if (!isResolved) return { message: 'Nothing was changed: the entry is not unknown any more.' }
  return { message: resolution === 'rerun' ? 'The next request with this key runs.' : 'The answer is recorded.' }
}

function outcomeOf(resolution: Resolution): Reply | 'rerun' {
  if (resolution === 'rerun') return 'rerun'
  const { status, body } = resolution
  const type = isJson(body) ? 'application/json' : 'text/plain;charset=UTF-8'
  return reply(body === '' ? null : body, { status, headers: body === '' ? {} : { 'content-type': type } })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function sentenceOf({ claimed, ...ended }: ResumeReport): string {
  const parts = Object.entries(ended).filter(([, count]) => count > 0)
  const list = parts.map(([status, count]) => `${count} ${status}`).join(', ')
  return `Resumed ${claimed}${list === '' ? '' : `: ${list}`}.`
}

/** For the page: never with a credential. */
export function messageOf(error: unknown): string {
  return redactText(error instanceof Error ? error.message : String(error))
}

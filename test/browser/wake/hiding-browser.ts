import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
import { inject } from 'vitest'
import { closeAtEnd } from '../support/closing.ts'
import { FLAGS, TestBrowser } from '../support/launch.ts'
import { gone, MARK } from '../support/processes.ts'

/**
 * A browser in which the tab in front hides the others and slows them down, as it does for people. One that the driver
 * starts itself tells every tab that it is in front.
 */
export async function hidingBrowser(): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'holdfast-browser-'))
  closeAtEnd(async () => rmSync(profile, { recursive: true, force: true }))
  const mark = randomUUID()
  const program = spawn(
    inject('browserPath'),
    [...FLAGS, '--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env: { ...process.env, [MARK]: mark } },
  )
  const pid = program.pid
  if (pid === undefined) throw new Error('The browser did not start')
  closeAtEnd(async () => {
    process.kill(-pid, 'SIGKILL')
    await gone({ pid, mark })
  })
  const browser = await chromium.connectOverCDP(await addressIn(program.stderr), { noDefaults: true })
  const [context] = browser.contexts()
  if (!context) throw new Error('The browser has no window')
  return new TestBrowser(context, { pid, mark, profile })
}

async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const [, address] = /^DevTools listening on (ws:.*)$/.exec(line) ?? []
    if (address) return address
  }
  throw new Error('The browser ended before it could be driven')
}

import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXAMPLES, ROOT, runExample } from './support/run-example.ts'

const KEY = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

describe.concurrent('the examples', () => {
  it('say what they have to say in sixty lines', () => {
    const long = readdirSync(EXAMPLES)
      .map((example) => join(EXAMPLES, example, 'main.mjs'))
      .filter((file) => existsSync(file) && readFileSync(file, 'utf8').trimEnd().split('\n').length > 60)
    expect(long).toEqual([])
  })

  it('01: the first post is retried under its key and answered', async () => {
    const { code, output } = await runExample('01-first-post')
    expect(output).toMatch(
      new RegExp(
        `^key {7}(${KEY})\naccepted {2}power\nrequest 1 \\1 503\nrequest 2 \\1 201\nanswer {4}\\{"id":"ch_1","amount":5000\\}\n$`,
      ),
    )
    expect(code).toBe(0)
  }, 60_000)

  it('02: the shop survives its crash, and nobody is charged twice', async () => {
    const { code, output } = await runExample('02-survive-a-crash')
    expect(output).toMatch(/kill -9 \d+ {2}the shop dies with [1-9]\d* charges under way/)
    expect(output).toContain('taken up again')
    expect(output.match(/^ +\d+ {2}[0-9a-f]{8} +\d+ +1 x {2}.+$/gm)).toHaveLength(20)
    expect(output.trimEnd().split('\n').at(-1)).toBe('  20 accepted, 20 applied once, 0 twice, 0 lost')
    expect(output).not.toContain('\x1b[')
    expect(code).toBe(0)
  }, 90_000)

  it('08: the shop keeps its promises, and the hasty one is found out', async () => {
    const { code, output } = await runExample('08-simulate-your-api')
    expect(output).toMatch(/^the shop: 300 histories, \d+ crashes: every promise held$/m)
    expect(output).toMatch(/^the hasty shop: \d+ histories, \d+ crashes: seed \d+ breaks P3: op\d was done \d times$/m)
    expect(output).toMatch(/^on a journal of your own: 20 histories, \d+ crashes: every promise held$/m)
    expect(code).toBe(0)
  }, 90_000)

  it('02: the demo ends with its children when it is interrupted', async ({ expect }) => {
    const child = spawn(process.execPath, [join(EXAMPLES, '02-survive-a-crash', 'main.mjs')], { cwd: ROOT })
    let output = ''
    child.stdout.setEncoding('utf8')
    for await (const chunk of child.stdout) {
      output += chunk
      if (output.includes('posts 20 charges')) break
    }
    const shop = Number(/process (\d+)/.exec(output)?.[1])
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    await expect.poll(() => isRunning(shop), { timeout: 10_000 }).toBe(false)
  }, 60_000)

  it('04: an Express route does its work once per key', async () => {
    const { code, output } = await runExample('04-server-express')
    expect(output.split('\n').map((line) => line.replace(/ \{.*/, ''))).toEqual([
      'a charge: 201',
      'the same again: 201, replayed',
      'the key of another account: 201',
      'the key for another amount: 422',
      'declined: 402',
      'declined again: 402, replayed',
      'without a key: 400',
      'charges: 2',
      '',
    ])
    expect(code).toBe(0)
  }, 60_000)

  it('05: a payment fails at each of its four points and is made once', async () => {
    const { code, output } = await runExample('05-payment-end-to-end')
    const lines = output.trimEnd().split('\n')
    expect(lines).toHaveLength(5)
    for (const line of lines) expect(line).toMatch(/: order \d( \(replayed\))?, charges 1, receipts 1$/)
    // Its answer had been recorded before the process was killed.
    expect(lines[4]).toContain('(replayed)')
    expect(code).toBe(0)
  }, 90_000)

  it('06: the order and its call are written together or not at all', async () => {
    const { code, output } = await runExample('06-outbox')
    expect(output.split('\n')).toEqual([
      'order 3: too much, rolled back',
      'committed: 1 open, 2 open',
      'sent: 1 paid, 2 open',
      'resumed: 1 paid, 2 paid',
      'charged at the server: 500, 700',
      '',
    ])
    expect(code).toBe(0)
  }, 60_000)
})

/** A process that has ended, and that nobody has asked about yet, still has its number. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

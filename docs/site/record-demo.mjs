// Runs the crash demo in a terminal of its own and draws what it printed, when it printed it: docs/pictures/demo.svg.
// Run: npm run docs:record. It takes `script`, which Linux has.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { terminalPicture } from './terminal-picture.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PROMPT = { atMs: 0, text: '\x1b[32m$\x1b[0m npm run demo' }
const STARTING_MS = 900

const { NO_COLOR: _, ...env } = process.env
const startedAt = performance.now()
const demo = spawn('script', ['-qfec', `${process.execPath} examples/02-survive-a-crash/main.mjs`, '/dev/null'], {
  cwd: ROOT,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(demo, 'exit')

const lines = [PROMPT]
for await (const text of createInterface({ input: demo.stdout })) {
  lines.push({ atMs: STARTING_MS + performance.now() - startedAt, text: text.trimEnd() })
}
const [code] = await ended
if (code !== 0) throw new Error(`The demo ended with ${code}`)

const size = { columns: 108, rows: 26, title: 'a shop is killed while it charges 20 orders' }
writeFileSync(`${ROOT}docs/pictures/demo.svg`, terminalPicture(lines, size))

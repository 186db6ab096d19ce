// npm run bench [-- --rounds 9 --seconds 0.6]: ratios to undici.request, measured in interleaved rounds of one run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { contenders } from './clients.mjs'

const BASELINE = 'undici.request'
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '0.6' } },
})
const rounds = Number(values.rounds)
const roundMs = Number(values.seconds) * 1000

const server = fork(new URL('./server.mjs', import.meta.url))
const [{ port }] = await once(server, 'message')
const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
const body = { amount: 5000, currency: 'eur', description: 'x'.repeat(230) }
const clients = contenders({ base: `http://127.0.0.1:${port}`, directory, body })

/** Requests per second and CPU time per request of one client in one round. */
async function measure(call, concurrency) {
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  let done = 0
  const worker = async () => {
    while (performance.now() - start < roundMs) {
      await call()
      done++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = (performance.now() - start) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  return { rate: done / seconds, cpuMicros: (cpu.user + cpu.system) / done }
}

const median = (numbers) => quantile(numbers, 0.5)
function quantile(numbers, q) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}

async function compare(verb, concurrency) {
  const names = Object.keys(clients)
  const results = Object.fromEntries(names.map((name) => [name, []]))
  for (const name of names) await measure(clients[name][verb], concurrency)
  for (let round = 0; round < rounds; round++) {
    const order = names.map((_, index) => names[(index + round) % names.length])
    for (const name of order) results[name].push(await measure(clients[name][verb], concurrency))
    process.stderr.write(`\r${verb} at ${concurrency}: round ${round + 1}/${rounds} `)
  }
  process.stderr.write('\r\x1b[K')
  return names.map((name) => {
    const ratios = results[name].map((result, round) => result.rate / results[BASELINE][round].rate)
    return {
      client: name,
      'req/s': Math.round(median(results[name].map((result) => result.rate))),
      'ratio (IQR)': `${median(ratios).toFixed(2)} (${quantile(ratios, 0.25).toFixed(2)}-${quantile(ratios, 0.75).toFixed(2)})`,
      'CPU us/req': Math.round(median(results[name].map((result) => result.cpuMicros))),
    }
  })
}

try {
  for (const verb of ['get', 'post']) {
    for (const concurrency of [1, 64]) {
      console.log(
        `\n${verb.toUpperCase()} at concurrency ${concurrency}${verb === 'post' ? ' (holdfast: durable, synced to disk before it is sent)' : ''}`,
      )
      console.table(await compare(verb, concurrency))
    }
  }
} finally {
  for (const client of Object.values(clients)) await client.close?.()
  server.disconnect()
  rmSync(directory, { recursive: true, force: true })
}

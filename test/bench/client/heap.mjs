// Heap that a client still holds after many calls, each client in a process of its own.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { runSection, tell } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'

const CONTENDERS = [
  ['get', 'undici.request'],
  ['get', 'fetch'],
  ['get', 'ky'],
  ['get', 'Holdfast'],
  ['post', 'Holdfast'],
  ['post', 'Holdfast, journal in memory'],
]

await runSection(async ({ directory, heapCalls }) => {
  const server = await startServer()
  const facts = []
  try {
    for (const [index, [verb, name]] of CONTENDERS.entries()) {
      tell(`heap after ${heapCalls} calls: ${verb.toUpperCase()} ${name} (${index + 1} of ${CONTENDERS.length})`)
      const input = { verb, name, calls: heapCalls, base: server.base, directory }
      facts.push({ name: `${verb.toUpperCase()} ${name}`, values: await retainedHeap(input) })
    }
  } finally {
    server.stop()
  }
  return { facts }
})

async function retainedHeap(input) {
  const program = new URL('./retained-heap.mjs', import.meta.url)
  const child = fork(program, [JSON.stringify(input)], { execArgv: ['--expose-gc'] })
  const [values] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => failed(input))])
  return values
}

function failed({ verb, name }) {
  throw new Error(`The process that measures the heap of ${verb} by ${name} ended without a result`)
}

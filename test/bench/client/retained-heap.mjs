// The heap of this process after many calls of one client, less what it was before. Needs --expose-gc.
import { setTimeout as sleep } from 'node:timers/promises'
import { rounded } from '../support/measure.mjs'
import { clientsOf, closeClients } from './clients.mjs'

const { verb, name, calls, base, directory } = JSON.parse(process.argv[2])
const CONCURRENCY = 16
/** Enough for compiled code and open connections not to count as retained by the calls. */
const WARM_UP = Math.min(5000, calls)

const clients = clientsOf({ base, directory })
const call = clients[name][verb]

async function callTimes(times) {
  let left = times
  const caller = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, caller))
}

/** Heap and buffers; garbage does not count. */
async function heldBytes() {
  // Writes that no caller waits for are done by then.
  await sleep(100)
  for (let pass = 0; pass < 3; pass++) global.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

await callTimes(WARM_UP)
const before = await heldBytes()
await callTimes(calls)
const retained = (await heldBytes()) - before
await new Promise((sent) =>
  process.send({ calls, retainedKb: rounded(retained / 1024), bytesPerCall: rounded(retained / calls) }, sent),
)
await closeClients(clients)
process.disconnect()

// One process of a fleet: resumes until nothing is left, and says how much memory it held early and late.
import { once } from 'node:events'
import { createClient } from 'holdfast'
import { postgresJournal } from 'holdfast/postgres'

const { base, url, schema } = JSON.parse(process.argv[2])
const heldMb = []
let settled = 0
const observe = ({ type }) => {
  if (type !== 'operation.settled' || ++settled % 500 !== 1) return
  global.gc()
  const { heapUsed, external } = process.memoryUsage()
  heldMb.push((heapUsed + external) / 2 ** 20)
}
const client = createClient({ baseUrl: base, journal: postgresJournal({ connectionString: url, schema }), observe })
await client.operation('none')
process.send('ready')
await once(process, 'message')
await client.resume({ concurrency: 64 })
await client.close()
// The first is from before the code was compiled.
process.send({ settled, earlyMb: heldMb[Math.min(1, heldMb.length - 1)] ?? 0, lateMb: heldMb.at(-1) ?? 0 })
process.on('disconnect', () => process.exit(0))

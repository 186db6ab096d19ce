/** Goes on with everything in a journal until nothing is pending, then says what it found. */
import { createClient } from '../../src/index.ts'
import { inputOf, say } from './child-voice.ts'
import { claimOf } from './claim.ts'
import { type JournalAddress, openHuntedJournal } from './hunted-journal.ts'

const input = inputOf<{ readonly origin: string; readonly journal: JournalAddress }>()
const journal = openHuntedJournal(input.journal)
const client = createClient({
  baseUrl: input.origin,
  journal,
  retry: { base: 20, cap: 500 },
  attemptTimeout: 2000,
  onGiveUp: 'keep',
  budget: { ratio: 1, burst: 1000, reservePerSecond: 100 },
  breaker: false,
  observe: (event) => {
    if (event.type === 'operation.resumed') say('resumed', { key: event.operation.key })
  },
})
client.onSettled('charge', ({ operation, status, error, replayed, mayHaveRepeated }) => {
  const { number } = operation.metadata as { number: number }
  const claim = error ? claimOf(error) : { effect: 'applied' }
  const { key } = operation
  say('handled', { number, key, at: Date.now(), status, replayed, mayHaveRepeated, ...claim })
})

for (;;) {
  await client.resume()
  await client.flush()
  let pending = 0
  for await (const { key, status, reason } of client.operations()) {
    if (status !== 'pending') continue
    pending++
    // Its runners were killed five times: no resume touches it unless somebody asks.
    if (reason !== 'poison') continue
    say('parked', { key })
    await client.retry(key).catch(() => {})
  }
  if (pending === 0) break
  await new Promise((resolve) => setTimeout(resolve, 100))
}
const statuses: Record<string, number> = {}
for await (const { status } of client.operations()) statuses[status] = (statuses[status] ?? 0) + 1
say('left', { statuses })
await client.close()
await journal.close()
process.exit()

import { sqliteJournal } from 'holdfast/sqlite'

/** The length that a record of these requests has. */
const HEAD = JSON.stringify({ padding: 'x'.repeat(480) })
const LEASE_MS = 30_000
const KEPT_MS = 60_000

/**
 * A request with one row written before it and changed after it, and nothing else: no retries, no policy, no errors of
 * its own. What a durable call costs at least with this journal.
 */
export function writeAround({ path, body, send }) {
  const journal = sqliteJournal({ path })
  const write = inGroups(journal)
  let epoch = 0
  return {
    post: async () => {
      const fence = { namespace: 'default', key: crypto.randomUUID(), owner: 'bench', epoch: ++epoch }
      await write({ do: 'append', row: { ...pendingRow(body), ...fence } })
      const answer = await send(fence.key)
      await write({ do: 'write', ...fence, change: settledChange(Buffer.from(JSON.stringify(answer))) })
      return answer
    },
    close: () => journal.close(),
  }
}

function pendingRow(body) {
  const times = { leaseUntil: Date.now() + LEASE_MS, dueAt: 0, notBefore: 0, expiresAt: null }
  const named = { version: 1, id: null, name: null, origin: 'http://127.0.0.1', status: 'pending' }
  return { ...named, ...times, deliveryDue: false, head: HEAD, body, responseBody: null }
}

function settledChange(responseBody) {
  const times = { leaseUntil: 0, dueAt: 0, notBefore: 0, expiresAt: Date.now() + KEPT_MS }
  return { status: 'succeeded', owner: null, ...times, deliveryDue: false, head: HEAD, responseBody }
}

/** Commands that come together share a transaction. */
function inGroups(journal) {
  const opened = journal.open()
  let queue = []
  let isFlushing = false
  const flush = async () => {
    await opened
    while (queue.length > 0) {
      const batch = queue
      queue = []
      const results = await journal.execute(batch.map(({ command }) => command))
      for (const [at, { resolve }] of batch.entries()) resolve(results[at])
    }
    isFlushing = false
  }
  return (command) =>
    new Promise((resolve) => {
      queue.push({ command, resolve })
      if (isFlushing) return
      isFlushing = true
      setImmediate(flush)
    })
}

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createClient } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { endAll } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

let server: TestServer
let folder = ''
let requests = 0

beforeAll(async () => {
  server = await httpServer((request, response) => {
    requests++
    if (request.url === '/hang') return
    if (request.url === '/refused') response.writeHead(400).end()
    else if (request.url === '/flaky' && requests < 3) response.writeHead(503).end()
    else response.end(request.url === '/large' ? 'x'.repeat(3_000_000) : 'ok')
  })
})
afterAll(() => server.close())
beforeEach(() => {
  requests = 0
  folder = mkdtempSync(join(tmpdir(), 'holdfast-exit-'))
})
afterEach(async () => {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

const calls: readonly (readonly [what: string, told: unknown])[] = [
  ['post', { level: 'power', text: 'ok' }],
  ['get', 'ok'],
  ['refused', 'RejectedError'],
  ['aborted', 'TimeoutError'],
  ['retried', 'ok'],
  ['streamed', 3_000_000],
  ['nothing', 'nothing'],
]

for (const [what, told] of calls) {
  test(`a program that makes one call (${what}) with the default journal and closes nothing ends by itself`, async () => {
    const child = await startProgram('child-one-call', { origin: server.origin, folder, what })
    const { code } = await child.ended
    expect(child.lines.map((line) => JSON.parse(line) as unknown)).toEqual([told])
    expect(code).toBe(0)
    const journaled = what !== 'get' && what !== 'streamed' && what !== 'nothing'
    expect(existsSync(join(folder, '.holdfast', 'operations.db'))).toBe(journaled)
  }, 20_000)
}

test('a program that exits right after a success has it on disk: the next run does not send it again', async () => {
  // This server shows no sign that it knows keys: sent again, it would charge again.
  const child = await startProgram('child-one-call', { origin: server.origin, folder, what: 'exits' })
  expect((await child.ended).code).toBe(0)
  expect(requests).toBe(1)
  const journal = sqliteJournal({ path: join(folder, '.holdfast', 'operations.db') })
  const client = createClient({ baseUrl: server.origin, journal })
  try {
    expect(await client.resume()).toMatchObject({ claimed: 0, pending: 0 })
    expect(requests).toBe(1)
  } finally {
    await client.close()
    await journal.close()
  }
}, 20_000)

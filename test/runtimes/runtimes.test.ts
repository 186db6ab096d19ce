import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Runtime, RuntimeProject } from './runtime-project.ts'
import { installRuntime, type RuntimeName } from './runtimes.ts'
import { askWorker } from './workerd.ts'

/** `npm run test:runtimes` has them all; the others take longer to install than to test. */
const isWhole = process.env.HOLDFAST_RUNTIMES === 'all'
const NAMES: readonly RuntimeName[] = isWhole ? ['bun', 'deno', 'Node 22', 'Node 24'] : ['bun', 'deno']

/** Deno asks before a program may use the network or the disk. */
const ARGUMENTS: Partial<Record<RuntimeName, readonly string[]>> = {
  deno: ['run', '--quiet', '--allow-all', '--node-modules-dir=manual'],
}

/** Undefined, and said so, where it cannot be installed. The long form insists. */
async function programOf(name: RuntimeName): Promise<string | undefined> {
  try {
    return await installRuntime(name)
  } catch (error) {
    if (isWhole) throw error
    console.log(`Not tested, because npm cannot install it: ${name} (${String(error).split('\n')[0]})`)
    return undefined
  }
}

const found = await Promise.all(
  NAMES.map(async (name) => ({ name, program: await programOf(name), args: ARGUMENTS[name] ?? [] })),
)
const runtimes = found.filter((one): one is Runtime & { name: RuntimeName } => one.program !== undefined)
const workerd = await programOf('workerd')

interface Seen {
  readonly key: string | undefined
  readonly body: string
}

const seen: Seen[] = []
const server = createServer(async (request, response) => {
  const key = request.headers['idempotency-key'] as string | undefined
  if (request.method === 'POST') seen.push({ key, body: await text(request) })
  if (request.url?.startsWith('/silent') && seen.length === 1) return
  response.writeHead(request.method === 'POST' ? 201 : 200, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ key }))
})
let origin: string
let project: RuntimeProject

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  project = await RuntimeProject.create()
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  project?.remove()
})

const POSTED = { sameKey: true, got: 200 }

describe.each(runtimes)('in $name', (runtime) => {
  it('an operation is on disk before it is sent, without a compiler', async () => {
    expect(await project.run(runtime, ['post.mjs', origin], `${runtime.name}-post`)).toEqual({
      memory: { level: 'memory', ...POSTED },
      default: { level: 'power', ...POSTED },
      none: { level: 'memory', ...POSTED },
    })
  })

  it('one whose process is killed is resumed with the same key and the same bytes', async () => {
    seen.length = 0
    const journal = `${runtime.name}-crash`
    const caller = project.start(runtime, ['crash.mjs', 'call', `${origin}/silent`], journal)
    await expect.poll(() => seen.length, { timeout: 30_000 }).toBe(1)
    caller.kill('SIGKILL')
    await once(caller, 'exit')
    const resumed = await project.run(runtime, ['crash.mjs', 'resume', `${origin}/silent`], journal)
    expect(resumed).toEqual({ claimed: 1, succeeded: 1 })
    expect(seen).toHaveLength(2)
    expect(seen[1]).toEqual(seen[0])
  })

  it('the server half does the work of a key once, on a ledger in SQLite', async () => {
    expect(await project.run(runtime, ['protect.mjs'], `${runtime.name}-ledger`)).toEqual({
      worked: 1,
      first: { status: 201, replayed: null },
      second: { status: 201, replayed: 'true' },
    })
  })
})

describe.runIf(workerd)('in workerd', () => {
  it('a client posts without a journal, and says why there is none by default', async () => {
    expect(await askWorker(workerd ?? '', project.folder)).toEqual({
      memory: { level: 'memory', sameKey: true },
      none: { level: 'memory', sameKey: true },
      fallback: { level: 'memory', sameKey: true },
      default: { name: 'StorageError', message: expect.stringContaining('There is no IndexedDB here') },
    })
  })
})

if (isWhole) {
  describe.each(runtimes)("SQLite of $name's own", (runtime) => {
    it('holds the contracts of journal and ledger', { timeout: 180_000 }, async () => {
      const { held, broken } = (await project.run(runtime, ['contracts.mjs'], 'none')) as { held: number; broken: [] }
      expect(broken).toEqual([])
      expect(held).toBeGreaterThan(190)
    })

    it('is used where better-sqlite3 was compiled for another Node', async () => {
      project.linkBetterSqlite()
      const { default: posted } = (await project.run(runtime, ['post.mjs', origin], `${runtime.name}-other`)) as {
        default: unknown
      }
      expect(posted).toEqual({ level: 'power', ...POSTED })
      project.unlinkBetterSqlite()
    })
  })
}

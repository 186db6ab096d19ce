import { createClient } from '../../src/index.ts'

/** Makes one call with a client that is never closed; whatever is left running keeps the process, and fails the test. */
interface Input {
  readonly origin: string
  readonly folder: string
  readonly what: 'post' | 'get' | 'refused' | 'aborted' | 'retried' | 'streamed' | 'nothing' | 'exits'
}
const { origin, folder, what } = JSON.parse(process.argv[2] ?? '{}') as Input

async function main(): Promise<unknown> {
  process.chdir(folder)
  const client = createClient({ baseUrl: origin, retry: { base: 1, cap: 1 } })
  switch (what) {
    case 'post': {
      const handle = client.post('/ok', { json: { amount: 5 } })
      return { level: await handle.accepted, text: await handle.text() }
    }
    case 'get':
      return client.get('/ok').text()
    case 'refused':
      return client.post('/refused', { json: 1 }).catch((error: unknown) => (error as Error).name)
    case 'aborted':
      return client.post('/hang', { signal: AbortSignal.timeout(50) }).catch((error: unknown) => (error as Error).name)
    case 'retried':
      return client.post('/flaky', { json: 1 }).text()
    case 'streamed':
      return (await client.fetch('/large')).text().then((text) => text.length)
    case 'exits':
      await client.post('/charge', { json: { amount: 5 } })
      return process.exit(0)
    case 'nothing':
      return 'nothing'
  }
}

process.stdout.write(`${JSON.stringify(await main())}\n`)

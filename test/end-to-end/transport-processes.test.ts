import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

const CHILD = fileURLToPath(new URL('../support/transport-child.ts', import.meta.url))

let server: TestServer
beforeAll(async () => {
  server = await httpServer((request, response) => {
    response.setHeader('X-Own', ['1', '2']).end(request.url === '/long' ? 'x'.repeat(1_000_000) : 'real')
  })
})
afterAll(() => server.close())

/** Runs to its own end: a process that something keeps alive fails the test by its timeout. */
async function run(scenario: string): Promise<unknown> {
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD, scenario, server.origin])
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (!output) throw new Error(complaint)
  return JSON.parse(output)
}

describe('a global dispatcher that was there before the transport', () => {
  test.each([
    ['mock agent before', 'mocked'],
    ['agent with options before', true],
    ['agent with interceptors before', true],
    ['nothing before', false],
    ['fetch used before', false],
  ])('%s: %s', async (scenario, expected) => {
    expect(await run(scenario)).toBe(expected)
  })
})

test('a dispatcher of another undici is understood', async () => {
  expect(await run('dispatcher of another undici')).toMatchObject({
    status: 200,
    headers: expect.arrayContaining([
      ['x-own', '1'],
      ['x-own', '2'],
    ]),
    size: 1_000_000,
  })
})

describe('a fetch that was replaced before the transport was loaded', () => {
  test.each(['fetch replaced before', 'fetch wrapped in a proxy before'])('%s is used', async (scenario) => {
    expect(await run(scenario)).toBe('replaced')
  })

  test('msw answers, and lets go when it is closed', async () => {
    expect(await run('msw before')).toEqual({ during: 'mocked', after: 'real' })
  })
})

describe('a process ends', () => {
  test.each([
    ['close', 'response'],
    ['close under a stream', 1_000_000],
    ['no close', 'response'],
  ])('after %s', async (scenario, expected) => {
    expect(await run(scenario)).toBe(expected)
  })
})

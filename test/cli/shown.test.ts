import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { exchange } from '../../src/cli/probe/exchange.ts'
import { afterwards } from '../support/shared-folder.ts'
import { journalFiles, refused } from './support/journal-file.ts'
import { cli } from './support/run-cli.ts'

const { newJournal } = journalFiles()
const ESCAPES = '\x1b]0;pwned\x07\x1b[2J\u202e\u009b'

describe('the command line prints no credential', () => {
  it.each([
    [
      'a header without its colon',
      ['resume', '--base-url', 'http://127.0.0.1:1', '--header', 'Authorization Bearer SECRETPW'],
    ],
    ['a header of any name', ['resume', '--base-url', 'http://127.0.0.1:1', '--header', 'X-Tenant SECRETPW']],
    ['a misspelt URL of a database', ['list', '--db', 'postgres:/u:SECRETPW@h']],
    ['a path with a password', ['list', '--db', 'u:SECRETPW@h/db']],
  ])('of %s', async (_, args) => {
    const { out, err, code } = await cli(args)
    expect(code).not.toBe(0)
    expect(err).not.toBe('')
    expect(out + err).not.toContain('SECRETPW')
  })
})

describe('the command line sends nothing to the terminal that it would obey', () => {
  it('of a namespace, a key or metadata that somebody has put into the database', async () => {
    const file = newJournal()
    const client = file.client(refused, { onGiveUp: 'keep' })
    const call = client.post('/charges', { metadata: { note: '\u009b\u202e' } })
    await call.catch(() => {})
    file.database.prepare('UPDATE holdfast_operations SET key = ?').run(`k${ESCAPES}`)
    const db = ['--db', file.path]
    const runs = [
      ['list', ...db],
      ['list', ...db, '--json'],
      ['show', `k${ESCAPES}`, ...db],
      ['show', `k${ESCAPES}`, ...db, '--json'],
      ['cancel', `k${ESCAPES}`, ...db],
      ['drop', `k${ESCAPES}`, ...db],
      ['show', `no${ESCAPES}`, ...db],
      ['list', ...db, '--namespace', `other${ESCAPES}`],
    ]
    let printed = ''
    for (const args of runs) {
      const { out, err } = await cli(args)
      expect(out + err).not.toBe('')
      printed += out + err
      if (args.includes('--json')) expect(JSON.stringify(JSON.parse(out))).toContain('\u009b')
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(printed.match(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/g)).toBeNull()
  })
})

describe('an exchange of a probe', () => {
  async function answering(answer: (write: (bytes: Buffer) => void) => void) {
    const server = createServer((_, response) => answer((bytes) => response.write(bytes)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    afterwards(() => {
      server.close()
      server.closeAllConnections()
    })
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return { url, method: 'POST', headers: [], body: new Uint8Array(), timeoutMs: 500 }
  }

  it('stops at 1 MiB', async () => {
    const request = await answering((write) => write(Buffer.alloc(3 * 1024 * 1024)))
    expect(await exchange({ ...request, timeoutMs: 60_000 }, 'k')).toEqual({ fault: 'more than 1 MiB', key: 'k' })
  })

  it('ends after its time, although the server goes on to speak', async () => {
    const request = await answering((write) => {
      const timer = setInterval(() => write(Buffer.from('.')), 50)
      afterwards(() => clearInterval(timer))
    })
    expect(await exchange(request, 'k')).toEqual({ fault: 'timeout', key: 'k' })
  })
})

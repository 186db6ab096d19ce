import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type JournalFile, journalFiles, refused } from './support/journal-file.ts'
import { cli, parsed } from './support/run-cli.ts'

const files = journalFiles()
let [status, requests] = [201, [] as IncomingMessage['headers'][]]
const server = createServer((request, response) => {
  requests.push(request.headers)
  response.writeHead(status, { 'content-type': 'application/json', 'do-not-retry': 'true' }).end('{"charge":7}')
})
let origin = ''

beforeEach(async () => {
  ;[status, requests] = [201, []]
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => new Promise((resolve) => void server.close(resolve)))

/** A file with operations whose server was down. */
async function leftPending(...ids: string[]): Promise<JournalFile> {
  const file = files.newJournal()
  const client = file.client(refused, { baseUrl: origin, headers: { authorization: 'Bearer old' }, honoursKeys: true })
  for (const id of ids) await client.post('/charges', { json: { id }, id, onGiveUp: 'keep' }).catch(() => {})
  return file
}

describe('resume', () => {
  it('sends what is pending, with its key and the credentials that it is given', async () => {
    const file = await leftPending('order:1', 'order:2')
    const token = `${file.path}.header`
    writeFileSync(token, 'Authorization: Bearer geheim\n')
    const args = ['resume', '--db', file.path, '--base-url', origin, '--header', `@${token}`]
    const { code, out, err } = await cli(args)
    expect({ code, out, err }).toEqual({ code: 0, out: '2 operations resumed: 2 succeeded.\n', err: '' })
    const stored = parsed<{ key: string }[]>(await cli(['list', '--db', file.path, '--json']))
    expect(requests.map((headers) => headers['idempotency-key']).sort()).toEqual(stored.map(({ key }) => key).sort())
    expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer geheim', 'Bearer geheim'])
    expect((await cli(args)).out).toMatch(/Nothing to resume/)
  })

  it('leaves what lacks its credentials pending, and says so by its exit code', async () => {
    const file = await leftPending('order:1')
    const result = await cli(['resume', '--db', file.path, '--base-url', origin, '--json'])
    expect(result.code).toBe(1)
    expect(parsed(result)).toMatchObject({ claimed: 1, pending: 1, succeeded: 0 })
    expect(requests).toEqual([])
    expect((await cli(['list', '--db', file.path])).out).toMatch(/parked: auth/)
  })

  it('takes nothing that a running client holds', async () => {
    const file = files.newJournal()
    const holder = file.client(() => new Promise<Response>(() => {}), { baseUrl: origin })
    const call = holder.post('/charges', { json: 1, id: 'order:7' })
    call.catch(() => {})
    await call.accepted
    const { code, out } = await cli(['resume', '--db', file.path, '--base-url', origin])
    expect({ code, out }).toEqual({ code: 0, out: 'Nothing to resume: no operation is pending and free.\n' })
    expect(requests).toEqual([])
    await call.cancel()
  })
})

describe('retry', () => {
  const send = (file: JournalFile, ...more: string[]) =>
    cli([
      'retry',
      'order:1',
      '--db',
      file.path,
      '--base-url',
      origin,
      '--header',
      'Authorization: Bearer geheim',
      ...more,
    ])

  it('sends one operation again and tells how it ended', async () => {
    const file = await leftPending('order:1', 'order:2')
    const { code, out } = await send(file)
    expect(code).toBe(0)
    expect(out).toMatch(/^[\w-]{36} succeeded with 201\n$/)
    expect(requests).toHaveLength(1)
  })

  it('fails where the server refuses', async () => {
    const file = await leftPending('order:1')
    status = 400
    const result = await send(file, '--json')
    expect(result.code).toBe(1)
    expect(parsed(result)).toMatchObject({ status: 'rejected', lastStatus: 400, error: expect.any(String) })
    expect(`${result.out}${result.err}`).not.toMatch(/geheim/)
  })
})

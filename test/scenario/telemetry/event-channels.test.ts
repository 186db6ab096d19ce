import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  CLIENT_CHANNEL,
  LEDGER_CHANNEL,
  publishEvent,
  publishLedgerEvent,
} from '../../../src/diagnostics-channel/index.ts'
import { createLedger, memoryLedger, reply } from '../../../src/server/index.ts'
import { scenario } from '../../support/client-scenario.ts'
import { eventLogger } from './recipes/pino-logger.ts'

function listen(channel: string): { readonly type: string }[] {
  const heard: { readonly type: string }[] = []
  const listener = (event: unknown): void => void heard.push(event as { readonly type: string })
  subscribe(channel, listener)
  onTestFinished(() => void unsubscribe(channel, listener))
  return heard
}

describe('the diagnostics channels', () => {
  it('carry every event of a client', async () => {
    const heard = listen(CLIENT_CHANNEL)
    const { client } = scenario([{ status: 201 }], { observe: publishEvent })
    const handle = client.post('/charges', { json: 1 })
    await handle
    expect(heard.map(({ type }) => type)).toEqual([
      'operation.accepted',
      'attempt.started',
      'attempt.ended',
      'operation.settled',
    ])
    expect(heard[0]).toMatchObject({ operation: { key: handle.key } })
  })

  it('carry every event of a ledger', async () => {
    const heard = listen(LEDGER_CHANNEL)
    const ledger = createLedger({ store: memoryLedger(), scope: 'public', observe: publishLedgerEvent })
    const handler = ledger.protect(async () => reply('done'))
    await handler(new Request('https://api.test/a', { method: 'POST', headers: { 'idempotency-key': 'key-1' } }))
    expect(heard.map(({ type }) => type)).toEqual(['entry.claimed', 'entry.recorded'])
  })

  it('cost a call nothing that could break it where nothing listens', async () => {
    const { client } = scenario([{ status: 201 }], { observe: publishEvent })
    expect((await client.post('/charges', { json: 1 })).status).toBe(201)
  })
})

describe('the recipe for pino', () => {
  it('logs each event as one line, and failures as warnings', async () => {
    const lines: Record<string, unknown>[] = []
    const log = eventLogger({ write: (line: string) => void lines.push(JSON.parse(line)) })
    const { client } = scenario([{ status: 422, body: 'secret' }], { observe: log })
    await client.post('/charges?q=secret', { json: 1, headers: { authorization: 'secret' } }).catch(() => {})
    expect(lines.map(({ level, msg }) => ({ level, msg }))).toEqual([
      { level: 20, msg: 'operation.accepted' },
      { level: 20, msg: 'attempt.started' },
      { level: 20, msg: 'attempt.ended' },
      { level: 40, msg: 'operation.settled' },
    ])
    expect(lines[3]).toMatchObject({ status: 'rejected', effect: 'none', attempts: 1, method: 'POST' })
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  it('shows what made the journal fail', () => {
    const lines: Record<string, unknown>[] = []
    eventLogger({ write: (line: string) => void lines.push(JSON.parse(line)) })({
      type: 'journal.failed',
      at: 0,
      error: new Error('the disk is full'),
    })
    expect(lines).toMatchObject([{ level: 50, msg: 'journal.failed', error: { message: 'the disk is full' } }])
  })
})

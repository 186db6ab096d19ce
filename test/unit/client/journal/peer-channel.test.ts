import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PeerChannel } from '../../../../src/client/journal/postgres/peer-channel.ts'
import type { PostgresListener } from '../../../../src/sql/postgres-driver.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A connection that answers a note only when it is told to. */
async function silentConnection() {
  const notes: string[] = []
  let answer = (): void => {}
  const connection = {
    processID: 1,
    on: () => connection,
    connect: async () => {},
    end: async () => {},
    query: async (text: string, values?: readonly string[]) => {
      if (!text.includes('pg_notify')) return { rows: [{ pid: '1' }] }
      notes.push(values?.[1] ?? '')
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return { rows: [] }
    },
  }
  const channel = new PeerChannel(async () => connection as unknown as PostgresListener, 'schema')
  channel.start()
  await vi.advanceTimersByTimeAsync(0)
  const notify = async (key: string): Promise<void> => {
    channel.notify({ is: 'pending', namespace: 'n', key })
    await vi.advanceTimersByTimeAsync(100)
  }
  return { notes, notify, answer: () => answer() }
}

it('sends no note while another one is under way, and then what has gathered', async () => {
  const { notes, notify, answer } = await silentConnection()
  for (const key of ['a', 'b', 'c']) await notify(key)
  expect(notes).toHaveLength(1)
  answer()
  await vi.advanceTimersByTimeAsync(100)
  expect(notes.map((note) => JSON.parse(note).map(({ key }: { key: string }) => key))).toEqual([['a'], ['b', 'c']])
})

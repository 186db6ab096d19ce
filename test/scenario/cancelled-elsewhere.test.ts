import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createClient, type HoldfastEvent, type Journal, memoryJournal } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { turn } from '../support/client-scenario.ts'
import { street } from '../support/fake-coordination.ts'
import { neighbourhood, ORIGIN, outcome, settle } from '../support/shared-clients.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'
import { modelServer } from '../support/shared-model-server.ts'

const ORDER = { body: 'one', id: 'order:1', name: 'charge' } as const
const LONG = { deadline: '5m', attemptTimeout: '5m' } as const

function settlements(events: readonly HoldfastEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === 'operation.settled' ? [event.status] : []))
}

describe('an operation that another client cancels while its request is on the wire', () => {
  it('has one settlement, also if its answer is a success', async () => {
    const place = neighbourhood()
    const [runner, canceller] = [place.client(LONG), place.client()]
    const delivered: string[] = []
    for (const client of [runner, canceller]) client.onSettled('charge', ({ status }) => void delivered.push(status))
    place.server.weather = () => ({ status: 201, json: 'done', delay: 2500 })
    const call = outcome(runner.post('/charges', ORDER))
    await settle(place.clock)
    expect(await canceller.cancel('order:1')).toBe(true)
    await place.clock.advance(2500)
    expect((await call).error).toMatchObject({ name: 'IndeterminateError', reason: 'aborted', effect: 'unknown' })
    await place.clock.advance(60_000)
    expect(settlements([...runner.events, ...canceller.events])).toEqual(['cancelled'])
    expect(delivered).toEqual(['cancelled'])
    expect(await runner.operation('order:1')).toMatchObject({ status: 'cancelled', effect: 'unknown' })
  })

  it('has its success if another runner merely has it', async () => {
    const place = neighbourhood()
    const runner = place.client(LONG)
    place.server.weather = () => ({ status: 201, json: 'first', delay: 2500 })
    const call = outcome(runner.post('/charges', ORDER).json())
    await settle(place.clock)
    const ahead = place.client({ ...LONG, clock: { ...place.clock, now: () => place.clock.now() + 30_000 } })
    place.server.weather = () => 'hang-before'
    void ahead.resume()
    await place.clock.advance(2500)
    expect((await call).value).toBe('first')
    expect(settlements(runner.events)).toEqual(['succeeded'])
  })

  it('ends at once in the other tab', async () => {
    const place = neighbourhood()
    const { neighbour } = street()
    const [runner, canceller] = [place.client(LONG, neighbour()), place.client({}, neighbour())]
    place.server.weather = () => 'hang-before'
    const call = outcome(runner.post('/charges', ORDER))
    await settle(place.clock)
    await canceller.cancel('order:1')
    await place.clock.advance(100)
    expect(settlements([...runner.events, ...canceller.events])).toEqual(['cancelled'])
    expect((await call).error).toMatchObject({ reason: 'aborted', pending: false })
  })

  it('ends before the next of its lane is sent, also if no message comes', async () => {
    const place = neighbourhood()
    const [runner, canceller] = [place.client(LONG), place.client()]
    const sent: string[] = []
    place.server.weather = ({ url }) => {
      const path = new URL(url).pathname
      sent.push(path)
      return path === '/second' ? 'fine' : 'hang-before'
    }
    const first = outcome(runner.post('/first', { ...ORDER, lane: 'L' }))
    await settle(place.clock)
    const second = outcome(runner.post('/second', { body: 'two', lane: 'L' }))
    await place.clock.advance(500)
    await canceller.cancel('order:1')
    await place.clock.advance(2000)
    expect((await second).value?.status).toBe(201)
    expect((await first).error).toMatchObject({ reason: 'aborted' })
    expect(sent).toEqual(['/first', '/second'])
    const said = runner.events.flatMap((event) =>
      event.type === 'attempt.started' || event.type === 'attempt.ended' ? [event.type] : [],
    )
    expect(said).toEqual(['attempt.started', 'attempt.ended', 'attempt.started', 'attempt.ended'])
  })
})

describe('two clients of one process', () => {
  const inMemory = (): (() => Journal) => {
    const journal = memoryJournal()
    return () => journal
  }
  const inFile = (): (() => Journal) => {
    const path = join(temporaryFolder(), 'operations.db')
    return () => sqliteJournal({ path, durability: 'process' })
  }
  for (const [place, makePlace] of [
    ['one object in memory', inMemory],
    ['one file', inFile],
  ] as const) {
    it(`hear of each other's settlements over ${place}`, async () => {
      const journal = makePlace()
      const clock = manualClock()
      const server = modelServer(clock)
      server.weather = () => 'hang-before'
      const client = () => {
        const own = journal()
        afterwards(() => own.close())
        return createClient({ baseUrl: ORIGIN, fetch: server.fetch, clock, journal: own, ...LONG })
      }
      const [runner, canceller] = [client(), client()]
      const call = outcome(runner.post('/charges', ORDER))
      while (server.calls.length === 0) await turn()
      expect(await canceller.cancel('order:1')).toBe(true)
      // No timer fires here: the runner is told, or waits for ever.
      expect((await call).error).toMatchObject({ reason: 'aborted', pending: false })
      await Promise.all([runner.close(), canceller.close()])
    })
  }
})

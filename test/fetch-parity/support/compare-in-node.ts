import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, memoryJournal } from '../../../src/index.ts'
import { compare } from './compare.ts'
import { casesIn, type ParityCase } from './parity-case.ts'
import { type ParityServers, parityServers } from './parity-servers.ts'
import { type Run, runCase, type Subject, type World } from './run-case.ts'
import { takeTurn } from './take-turn.ts'

/** Makes a test of each case that runs in Node. */
export function compareInNode(cases: readonly ParityCase[]): void {
  let servers: ParityServers
  let world: World

  beforeAll(async () => {
    servers = await parityServers()
    world = { ...servers, platform: globalThis.fetch, library: { createClient, memoryJournal } }
  })
  afterAll(() => servers.close())

  describe("client.fetch is like Node's fetch", () => {
    for (const parityCase of casesIn('node', cases))
      it(parityCase.name, () => {
        const run = (subject: Subject): Promise<Run> =>
          takeTurn(servers, subject, (turn) => runCase(parityCase, turn, world))
        return compare(parityCase, { platform: 'node', expect, run })
      })
  })
}

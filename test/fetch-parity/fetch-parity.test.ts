import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'
import { allCases } from './all-cases.ts'
import { nodeOnly } from './cases/node-only.ts'
import { differences } from './differences.ts'
import { compare } from './support/compare.ts'
import { casesIn, differenceIn } from './support/parity-case.ts'
import { type ParityServers, parityServers } from './support/parity-servers.ts'
import { type Run, runCase, type Subject, type World } from './support/run-case.ts'

const cases = casesIn('node', [...allCases, ...nodeOnly])

let servers: ParityServers
let world: World
beforeAll(async () => {
  servers = await parityServers()
  world = { ...servers, platform: globalThis.fetch, library: { createClient, memoryJournal } }
})
afterAll(() => servers.close())

describe("client.fetch is like Node's fetch", () => {
  for (const parityCase of cases)
    it(parityCase.name, () => {
      const run = (subject: Subject): Promise<Run> => runCase(parityCase, subject, world)
      return compare(parityCase, { platform: 'node', expect, run })
    })
})

describe('the table', () => {
  it('has one case of a name', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  })

  it('has a case for each difference', () => {
    const used = new Set(cases.map((each) => differenceIn('node', each)))
    expect(Object.keys(differences).filter((name) => !used.has(name as never))).toEqual([])
  })
})

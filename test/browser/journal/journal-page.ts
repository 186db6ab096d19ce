import { indexedDbJournal } from '../../../src/client/journal/indexeddb/indexeddb-journal.ts'
import type { Journal, JournalCommand, JournalResult } from '../../../src/client/journal/port.ts'
import { isHoldfastError } from '../../../src/errors/holdfast-error.ts'
import type { JournalContractOptions } from '../../../src/testing/contracts/journal/contract-case.ts'
import * as sample from '../../../src/testing/contracts/journal/sample-row.ts'
import { journalContract } from '../../../src/testing/contracts/journal-contract.ts'

/** Runs in the page: journals without a client, for tests that look at nothing else. */

export interface Failure {
  readonly code: string
  readonly effect: string
  readonly message: string
}

const journals = new Map<string, Journal>()
const names = new WeakMap<Journal, string>()
let stores = 0

function named(name: string): Journal {
  const journal = indexedDbJournal({ name })
  names.set(journal, name)
  return journal
}

const again = (journal: Journal): Journal => named(names.get(journal) ?? '')
const contract: JournalContractOptions = { open: () => named(`contract-${++stores}`), another: again, reopen: again }
const cases = new Map(journalContract(contract).map(({ name, run }) => [name, run]))

async function told<T>(work: Promise<T>): Promise<T | Failure> {
  try {
    return await work
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    const { code, effect, message } = error
    return { code, effect, message }
  }
}

/** Bytes that no store can make much smaller. */
function noise(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => Math.imul(at, 0x9e3779b1) >>> (at % 24))
}

async function opened(name: string): Promise<Journal> {
  const journal = journals.get(name) ?? named(name)
  await journal.open()
  journals.set(name, journal)
  return journal
}

async function execute(name: string, commands: readonly JournalCommand[]): Promise<JournalResult[]> {
  return (await opened(name)).execute(commands)
}

export const page = {
  caseNames: (): string[] => [...cases.keys()],
  runCase: async (name: string): Promise<void> => cases.get(name)?.(),
  level: (name: string): Promise<unknown> => told(opened(name).then((journal) => journal.level)),
  append: (name: string, keys: readonly string[]): Promise<unknown> =>
    told(
      execute(
        name,
        keys.map((key) => sample.append(key)),
      ),
    ),
  /** A row that `me` holds, and then its settlement. */
  hold: (name: string, key: string): Promise<unknown> => told(execute(name, [sample.held(key)])),
  settle: (name: string, key: string): Promise<unknown> => told(execute(name, [sample.commit(key)])),
  renew: (name: string, key: string): Promise<unknown> => told(execute(name, [sample.renew(key, sample.NOW)])),
  appendLarge: (name: string, key: string, bytes: number): Promise<unknown> =>
    told(execute(name, [sample.append(key, { body: noise(bytes) })])),
  async keys(name: string): Promise<unknown> {
    const results = await told(execute(name, [sample.list({ limit: 1000 })]))
    return Array.isArray(results) ? sample.keysOf(results[0] as never) : results
  },
  /** Claims a few at a time until nothing is left. */
  async drain(name: string, owner: string): Promise<string[]> {
    const keys: string[] = []
    for (let taken: { key: string }[]; ; ) {
      taken = (await execute(name, [sample.claimCommand({ owner, limit: 3 })]))[0] as never
      if (taken.length === 0) return keys
      keys.push(...taken.map(({ key }) => key))
    }
  },
}

export type JournalPage = typeof page

Object.assign(globalThis, { journalPage: page })

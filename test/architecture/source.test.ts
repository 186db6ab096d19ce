import { describe, expect, it } from 'vitest'
import { readSourceTree, type SourceFile, sourceTree } from '../support/source-tree.ts'
import { importCycles } from './laws/import-cycles.ts'
import { importDirection, testRunners } from './laws/import-direction.ts'
import { strayTime, waitingInPureRooms } from './laws/purity.ts'
import { booleanParameters, busyDoors, emptyNames, longFiles, longSignatures, silencedLaws } from './laws/shape.ts'

const source = readSourceTree('src')

interface Law {
  readonly title: string
  readonly check: (tree: readonly SourceFile[]) => string[]
  /** Each breaks the law, so that nobody has to trust a check that has never said no. */
  readonly offences: readonly Readonly<Record<string, string>>[]
}

const laws: readonly Law[] = [
  {
    title: 'imports follow the arrows of the plan',
    check: importDirection,
    offences: [
      { 'client/policy/decide.ts': "import { run } from '../engine/run.ts'" },
      { 'client/operation/record.ts': "import type { Verdict } from '../policy/classify.ts'" },
      { 'protocol/headers.ts': "import type { Journal } from '../client/journal/port.ts'" },
      { 'foundation/clock.ts': "import { HoldfastError } from '../errors/holdfast-error.ts'" },
      { 'client/engine/run.ts': "import { sqliteJournal } from '../journal/sqlite/sqlite-journal.ts'" },
      { 'client/engine/run.ts': "import { groupCommit } from '../journal/group-commit.ts'" },
      { 'client/engine/run.ts': "const x = await import('../transport/undici/undici-transport.ts')" },
      { 'client/engine/run.ts': "import { createClient } from '../create-client.ts'" },
      { 'client/client.ts': "import { memoryJournal } from './journal/memory/memory-journal.ts'" },
      { 'client/client.ts': "import { platform } from '#platform'" },
      { 'client/journal/record-keeper.ts': "import { memoryJournal } from './memory/memory-journal.ts'" },
      { 'client/journal/sqlite/sqlite-journal.ts': "import type { Outcome } from '../../transport/fetch/outcome.ts'" },
      { 'client/engine/run.ts': "import type { Entry } from '../../server/entry/entry.ts'" },
      { 'server/guard/guard.ts': "export { decide } from '../../client/policy/decide.ts'" },
      { 'client/client.ts': "import { memoryJournal } from '../index.ts'" },
      { 'client/engine/run.ts': "import { manualClock } from '../../testing/manual-clock.ts'" },
      { 'client/engine/run.ts': "import { readFile } from 'node:fs/promises'" },
      { 'client/policy/retry.ts': "import { v4 } from 'uuid'" },
      { 'client/attic/box.ts': '' },
      { 'shed/box.ts': '' },
    ],
  },
  {
    title: 'no files import each other in a ring',
    check: importCycles,
    offences: [
      {
        'a.ts': "import { b } from './b.ts'",
        'b.ts': "import { c } from './c.ts'",
        'c.ts': "import { a } from './a.ts'",
      },
      { 'a.ts': "export { a } from './a.ts'" },
      { 'a.ts': "import { type A, b } from './b.ts'", 'b.ts': "import { a } from './a.ts'" },
    ],
  },
  {
    title: 'nothing brings a test runner along',
    check: testRunners,
    offences: [
      { 'testing/a.ts': "import { it } from 'vitest'" },
      { 'testing/a.ts': "import type { TestContext } from 'node:test'" },
    ],
  },
  {
    title: 'only three files touch the clock, the dice and the ids',
    check: strayTime,
    offences: [
      { 'a.ts': 'const now = Date.now()' },
      { 'a.ts': 'const now = new Date()' },
      { 'a.ts': 'const now = Date()' },
      { 'a.ts': 'const dice = Math.random' },
      { 'a.ts': 'globalThis.setTimeout(() => {}, 5)' },
      { 'a.ts': 'setInterval(() => {}, 5)' },
      { 'a.ts': 'const id = crypto.randomUUID()' },
      { 'a.ts': 'const signal = AbortSignal.timeout(5)' },
      { 'a.ts': "import { v4 } from 'uuid'" },
      { 'a.ts': "import { setTimeout as pause } from 'node:timers/promises'" },
    ],
  },
  {
    title: 'pure rooms never wait',
    check: waitingInPureRooms,
    offences: [
      { 'client/policy/decide.ts': 'export const decide = async () => 1' },
      { 'client/operation/record.ts': 'await Promise.resolve()' },
      { 'protocol/headers.ts': 'for await (const part of parts) use(part)' },
    ],
  },
  { title: 'files stay short', check: longFiles, offences: [{ 'a.ts': 'f()\n'.repeat(251) }] },
  {
    title: 'names say what a file is',
    check: emptyNames,
    offences: [{ 'client/utils.ts': '' }, { 'helpers/a.ts': '' }, { 'client/lease-manager.ts': '' }],
  },
  {
    title: 'no comment silences a law',
    check: silencedLaws,
    offences: [
      { 'a.ts': '// @ts-ignore' },
      { 'a.ts': '// @ts-expect-error' },
      { 'a.ts': '// biome-ignore lint/suspicious/noExplicitAny: because' },
    ],
  },
  {
    title: 'no function takes a flag',
    check: booleanParameters,
    offences: [
      { 'a.ts': 'function f(x: string, loud: boolean) {}' },
      { 'a.ts': 'class A { f(x: string, loud: boolean) {} }' },
    ],
  },
  {
    title: 'signatures stay short',
    check: longSignatures,
    offences: [{ 'client/policy/a.ts': '// biome-ignore lint/complexity/useMaxParams: because' }],
  },
  {
    title: 'a door only re-exports',
    check: busyDoors,
    offences: [{ 'index.ts': 'export const x = 1' }, { 'sqlite/index.ts': "import './a.ts'" }],
  },
]

describe.each(laws)('$title', ({ check, offences }) => {
  it('holds in src', () => expect(check(source)).toEqual([]))
  it.each(offences)('would notice %j', (files) => expect(check(sourceTree(files))).not.toEqual([]))
})

describe('the plan', () => {
  it('lets types form rings', () => {
    const ring = { 'a.ts': "import type { B } from './b.ts'", 'b.ts': "import { a } from './a.ts'" }
    expect(importCycles(sourceTree(ring))).toEqual([])
  })

  it('lets the composition root and the platforms name adapters', () => {
    const files = {
      'client/create-client.ts': "import { platform } from '#platform'",
      'client/platform/node.ts': "import { sqliteJournal } from '../journal/sqlite/sqlite-journal.ts'",
      'sqlite/index.ts': "export { sqliteJournal } from '../client/journal/sqlite/sqlite-journal.ts'",
    }
    expect(importDirection(sourceTree(files))).toEqual([])
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HEADER } from '../../src/protocol/header-names.ts'
import { PROBLEM } from '../../src/protocol/problem-details.ts'
import { type RefusalReason, refusal } from '../../src/server/admission/refusal.ts'
import { interfaceMembers } from './support/interface-members.ts'
import { blocksOf, root } from './support/pages.ts'
import { PROBLEMS, problemSection } from './support/problem-section.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const page = read('docs/reference/server.md')

describe('the reference of the server half', () => {
  it.each([
    ['src/server/ledger.ts', 'LedgerOptions'],
    ['src/server/guard/guard-options.ts', 'ProtectOptions'],
    ['src/server/guard/context.ts', 'IdempotencyContext'],
    ['src/server/ledger.ts', 'Ledger'],
    ['src/server/ledger.ts', 'OnceOptions'],
    ['src/server/ledger.ts', 'Once'],
    ['src/server/ledger.ts', 'ReaperOptions'],
    ['src/server/ledger/port.ts', 'TransactOptions'],
    ['src/server/ledger/port.ts', 'Reaped'],
    ['src/server/entry/upkeep.ts', 'LedgerStats'],
    ['src/server/entry/upkeep.ts', 'LedgerGauges'],
    ['src/server/ledger.ts', 'EraseOptions'],
    ['src/server/ledger.ts', 'ErasedScope'],
    ['src/server/guard/counters.ts', 'LedgerCounts'],
    ['src/server/guard/counters.ts', 'LedgerMetrics'],
    ['src/server/ledger/postgres/postgres-ledger.ts', 'PostgresLedgerOptions'],
    ['src/server/entry/entry.ts', 'Entry'],
    ['src/server/entry/entry.ts', 'RecordedAnswer'],
    ['src/server/entry/reply.ts', 'ReplyInit'],
    ['src/server/entry/reply.ts', 'OverloadedOptions'],
  ])('names every member of %s, %s', (source, name) => {
    const members = interfaceMembers(source, name)
    expect(members.length).toBeGreaterThan(1)
    const isNamed = (member: string): boolean => new RegExp(`[\`{ \n]${member}(?:[\`,(<: ])`).test(page)
    expect(members.filter((member) => !isNamed(member))).toEqual([])
  })

  it('lists every event', () => {
    const rows = [...page.matchAll(/^\| `([a-z]+\.[a-z]+)` \|/gm)].map(([, type]) => type)
    const types = [...read('src/server/guard/events.ts').matchAll(/readonly type: '([a-z.]+)'/g)].map(
      ([, type]) => type,
    )
    expect(rows.sort()).toEqual(types.sort())
  })

  it('tells the headers that answers have', () => {
    for (const name of [HEADER.idempotencyRetention, HEADER.idempotencyReplayed, HEADER.idempotencyBody]) {
      expect(page.toLowerCase()).toContain(`| \`${name}: `)
    }
  })
})

describe('the page of problems', () => {
  const types: string[] = Object.values(PROBLEM).filter((type) => type !== PROBLEM.overloaded)
  const table = read(PROBLEMS)

  it.each(types)('%s shows the answer as it is', (type) => {
    const reason = type.split(':').pop() as RefusalReason
    const { status, headers, body } = refusal(reason)
    const text = problemSection(reason)
    const [example] = blocksOf({ path: PROBLEMS, text }).filter(({ info }) => info === 'json')
    expect(JSON.parse(example?.code ?? '')).toEqual(JSON.parse(new TextDecoder().decode(body)))
    const retryAfter = headers.find(([name]) => name === 'retry-after')?.[1]
    const says = `${status}, \`${type}\`${retryAfter ? `, \`Retry-After: ${retryAfter}\`` : ''}.`
    expect(text).toContain(says)
    expect(table).toContain(`| [\`${type}\`](#${reason}) | ${status} | ${retryAfter ?? ''}`)
  })
})

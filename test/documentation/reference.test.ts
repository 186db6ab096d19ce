import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { crashPoints } from '../../src/testing/index.ts'
import { interfaceMembers } from './support/interface-members.ts'
import { root } from './support/pages.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

describe('the reference', () => {
  it.each([
    ['docs/reference/options.md', 'src/client/options.ts', 'ClientOptions'],
    ['docs/reference/options.md', 'src/client/options.ts', 'RetryOptions'],
    ['docs/reference/options.md', 'src/client/gate/gate-options.ts', 'BreakerOptions'],
    ['docs/reference/options.md', 'src/client/gate/gate-options.ts', 'LimitOptions'],
    ['docs/reference/options.md', 'src/client/options.ts', 'DoNotRetryOptions'],
    ['docs/reference/options.md', 'src/client/gate/retry-budget.ts', 'BudgetOptions'],
    ['docs/reference/calls.md', 'src/client/options.ts', 'CallOptions'],
    ['docs/reference/calls.md', 'src/client/client.ts', 'Client'],
    ['docs/reference/calls.md', 'src/client/client.ts', 'ResumeOptions'],
    ['docs/reference/errors.md', 'src/errors/holdfast-error.ts', 'ErrorDetails'],
  ])('%s names every member of %s, %s', (page, source, name) => {
    const members = interfaceMembers(source, name)
    expect(members.length).toBeGreaterThan(1)
    expect(members.filter((member) => !mentions(read(page), member))).toEqual([])
  })

  it('explains every reason', () => {
    const rows = [...read('docs/reference/reasons.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, reason]) => reason)
    expect(rows.sort()).toEqual(literalsOf('src/errors/reason.ts', 'Reason').sort())
  })

  it('lists every event', () => {
    const rows = [...read('docs/reference/events.md').matchAll(/^\| `([a-z]+\.[a-z]+)` \|/gm)].map(([, type]) => type)
    const types = [...read('src/observe/port.ts').matchAll(/readonly type: '([a-z.]+)'/g)].map(([, type]) => type)
    expect(rows.sort()).toEqual(types.sort())
  })

  it('lists every error class and every code', () => {
    const page = read('docs/reference/errors.md')
    const classes = [...read('src/errors/classes.ts').matchAll(/^export class (\w+)/gm)].map(([, name = '']) => name)
    expect([...classes, ...codes()].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('has a section of troubleshooting for every code', () => {
    const headings = read('docs/troubleshooting.md').match(/^### .*$/gm) ?? []
    const explained = headings.flatMap((heading) => heading.match(/HOLDFAST_[A-Z_]+/g) ?? [])
    expect(explained.sort()).toEqual([...codes()].sort())
  })

  it('names every export of the testing door and every point at which one can crash', () => {
    const page = read('docs/reference/testing.md')
    const exported = parse('src/testing/index.ts').statements.flatMap((statement) =>
      ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name }) => name.text)
        : [],
    )
    expect(exported).toContain('crashAt')
    expect(exported.filter((name) => !mentions(page, name))).toEqual([])
    const points = [...page.matchAll(/^\| `([^|]+)` \|/gm)].flatMap(([, cell = '']) => cell.split('`, `'))
    expect(points.filter((point) => /^[a-z]+:[a-z]+$/.test(point)).sort()).toEqual([...crashPoints].sort())
  })

  it.each([
    ['src/testing/crash-at.ts', 'CrashAtOptions'],
    ['src/testing/crash-at.ts', 'Crash'],
    ['src/testing/manual-clock.ts', 'ManualClock'],
    ['src/testing/scripted-fetch.ts', 'AnswerStep'],
    ['src/testing/scripted-fetch.ts', 'ScriptedCall'],
    ['src/testing/contracts/journal/contract-case.ts', 'JournalContractOptions'],
  ])('of the testing door names every member of %s, %s', (source, name) => {
    const members = interfaceMembers(source, name)
    expect(members.length).toBeGreaterThan(2)
    expect(members.filter((member) => !mentions(read('docs/reference/testing.md'), member))).toEqual([])
  })

  it('lists every option, metric and attribute of the telemetry', () => {
    const page = read('docs/reference/telemetry.md')
    const folder = 'src/observe/opentelemetry'
    const made = (file: string, prefix: string): string[] =>
      [...read(`${folder}/${file}`).matchAll(/(?:counter|gauge)\('([\w.]+)'/g)].map(([, name]) => `${prefix}.${name}`)
    const named = readdirSync(join(root, folder)).flatMap((file) =>
      [...read(`${folder}/${file}`).matchAll(/'((?:holdfast|http|url|server|error|idempotency)\.[\w.]+)'/g)].map(
        ([, name = '']) => name,
      ),
    )
    const metrics = [...made('client-metrics.ts', 'holdfast.client'), ...made('ledger-telemetry.ts', 'holdfast.ledger')]
    expect(metrics.length).toBeGreaterThan(10)
    expect([...metrics, ...named].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
    const options = interfaceMembers(`${folder}/open-telemetry.ts`, 'OpenTelemetryOptions')
    expect(options.filter((option) => !mentions(page, option))).toEqual([])
  })

  it('lists every header that is sent or read', () => {
    const page = read('docs/reference/headers.md').toLowerCase()
    const named = [
      'src/protocol/header-names.ts',
      'src/protocol/server-timing.ts',
      'src/client/policy/resolve-names.ts',
    ]
    const headers = named.flatMap((path) => [...read(path).matchAll(/'([a-z]+(?:-[a-z]+)+)'/g)].map(([, name]) => name))
    expect(headers.filter((name) => !page.includes(`${name}`))).toEqual([])
  })
})

function mentions(page: string, member: string): boolean {
  return new RegExp(`[\`{ ]${member}(?:[\`,(<: ])`).test(page)
}

function codes(): Set<string> {
  return new Set(sources().flatMap((text) => text.match(/HOLDFAST_(?!DB\b)[A-Z_]+(?=')/g) ?? []))
}

function sources(): string[] {
  const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => path.endsWith('.ts')).map((path) => read(join('src', path)))
}

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true)
}

function literalsOf(path: string, name: string): string[] {
  const found = parse(path).statements.find(
    (statement): statement is ts.TypeAliasDeclaration =>
      ts.isTypeAliasDeclaration(statement) && statement.name.text === name,
  )
  if (!found || !ts.isUnionTypeNode(found.type)) return []
  return found.type.types.flatMap((type) =>
    ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [type.literal.text] : [],
  )
}

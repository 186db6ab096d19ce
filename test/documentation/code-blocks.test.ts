import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleServer, exampleServer } from './support/example-server.ts'
import { type Block, blocksOf, pages, root } from './support/pages.ts'
import { type Programs, programsOf } from './support/run-blocks.ts'
import { typeErrors } from './support/type-check.ts'

/*
 * Every fenced block of README.md and docs/ is checked, by what stands behind its fence:
 *
 *   ts        compiles against the sources. `client` and `order` may be used without being declared.
 *   ts run    compiles, and runs by itself against a server at process.env.API_URL. If it has comments
 *             `// prints …`, these are its whole output, line by line.
 *   ts from … is that file of the repository, which tests run; our sources have the package's name instead of a path.
 *   js file … is a file of the tutorial; `sh step` is typed by its reader, and `text output` is what is printed then. They are
 *             followed to the letter, see tutorial.test.ts.
 *   sh        names only scripts that package.json has.
 *   json      is JSON.
 *   sql       is run by test/contract/postgres-grants.postgres.test.ts.
 *   mermaid   uses only participants and states that it declares.
 *   text      is a drawing; nothing to check.
 */

const blocks = pages().flatMap(blocksOf)
const of = (...infos: string[]): Block[] => blocks.filter(({ info }) => infos.includes(info))
const FILE = /^js file [\w-]+\.mjs$/
const FROM = /^ts from (test\/\S+\.ts)$/

/** As a reader would write it. */
function fileOf({ info }: Block): string {
  const [, path = ''] = FROM.exec(info) ?? []
  const text = readFileSync(join(root, path), 'utf8').replace(/'(?:\.\.\/)+src\/index\.ts'/g, "'holdfast'")
  return text.replace(/'(?:\.\.\/)+src\/(.+)\/index\.ts'/g, "'holdfast/$1'")
}

const place = ({ page, line }: Block): string => `${page}:${line}`

describe('the code blocks of the documentation', () => {
  it('are all of a kind that is checked', () => {
    const kinds = ['ts', 'ts run', 'sh', 'sh step', 'json', 'mermaid', 'text', 'text output', 'sql']
    const isKnown = ({ info }: Block): boolean => kinds.includes(info) || FROM.test(info) || FILE.test(info)
    expect(blocks.filter((block) => !isKnown(block)).map(place)).toEqual([])
    expect(of('ts', 'ts run').length).toBeGreaterThan(10)
  })

  it('compile against the sources', { timeout: 180_000 }, () => {
    expect(typeErrors(of('ts', 'ts run'))).toEqual([])
  })

  it('are the files that they are taken from', () => {
    const taken = blocks.filter(({ info }) => FROM.test(info))
    expect(taken.length).toBeGreaterThan(0)
    for (const block of taken) expect(block.code, place(block)).toBe(fileOf(block))
  })

  it('name only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
    const known = new Set(['ci', 'init', 'install', 'rebuild', 'test', ...Object.keys(scripts)])
    const named = of('sh', 'sh step').flatMap((block) =>
      [...block.code.matchAll(/\bnpm (?:run )?([\w:-]+)/g)].map(([, script = '']) => ({ script, at: place(block) })),
    )
    expect(named.filter(({ script }) => !known.has(script))).toEqual([])
  })

  it('are valid JSON where they say so', () => {
    for (const block of of('json')) expect(() => JSON.parse(block.code), place(block)).not.toThrow()
  })

  it('draw only what they declare', () => {
    for (const block of of('mermaid')) expect(undeclared(block.code), place(block)).toEqual([])
  })
})

describe('a program of the documentation', () => {
  const runnable = of('ts run')
  let programs: Programs
  let server: ExampleServer

  beforeAll(async () => {
    server = await exampleServer()
    programs = await programsOf(runnable)
  }, 30_000)

  afterAll(async () => {
    programs?.remove()
    await server?.close()
  })

  it.concurrent.for(runnable)('runs: $page:$line', { timeout: 30_000 }, async (block, { expect }) => {
    const { code, stdout, stderr } = await programs.run(block, server.url)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const promised = [...block.code.matchAll(/\/\/ prints (.*)$/gm)].map(([, line = '']) => line.trim())
    if (promised.length > 0) expect(stdout.trim().split('\n')).toEqual(promised)
  })
})

/** Names in a diagram that stand for nothing: a misspelt participant silently becomes a new one. */
function undeclared(diagram: string): string[] {
  const [first = ''] = diagram.trim().split('\n')
  if (first === 'sequenceDiagram') {
    const declared = new Set([...diagram.matchAll(/^\s*(?:participant|actor) (\w+)/gm)].map(([, name]) => name))
    const used = [...diagram.matchAll(/^\s*(\w+)\s*-{1,2}(?:>>|x|\))\s*(\w+)\s*:/gm)].flatMap(([, a, b]) => [a, b])
    const noted = [...diagram.matchAll(/^\s*Note (?:over|left of|right of) ([\w, ]+):/gm)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim()),
    )
    return [...used, ...noted].filter((name): name is string => name !== undefined && !declared.has(name))
  }
  return first.startsWith('stateDiagram-v2') || first.startsWith('flowchart ') ? [] : [`unknown diagram: ${first}`]
}

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Block, blocksOf, type Page, pages } from '../../documentation/support/pages.ts'

const PATH = 'docs/guides/sdks.md'
const SNIPPETS = fileURLToPath(new URL('../snippets/', import.meta.url))

function guide(): Page {
  const page = pages().find(({ path }) => path === PATH)
  if (!page) throw new Error(`There is no ${PATH}`)
  return page
}

/** The measured columns of a row of the guide's table. */
export function guideRow(title: string): string[] {
  const rows = guide()
    .text.split('\n')
    .map((line) => line.split('|').map((column) => column.trim()))
  return rows.find(([, first]) => first === title)?.slice(2, -1) ?? [`no row is called ${title}`]
}

export function guideBlocks(): Block[] {
  return blocksOf(guide())
}

/** What a snippet is for the reader of the guide: its packages, and what its function does before it returns. */
export function snippets(): string[] {
  return readdirSync(SNIPPETS).map((file) => {
    const lines = readFileSync(`${SNIPPETS}${file}`, 'utf8').replace('../../../src/index.ts', 'holdfast').split('\n')
    const imports = lines.filter((line) => line.startsWith('import ') && !line.includes("'../"))
    const start = lines.findIndex((line) => line.startsWith('export function'))
    const end = lines.findIndex((line) => line.startsWith('  return '))
    return [...imports, '', ...lines.slice(start + 1, end).map((line) => line.slice(2)), ''].join('\n')
  })
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawPicture } from '../../storm/pictures/draw.ts'
import { type Results, SECTIONS, type SectionName } from '../results.ts'
import { ratioPicture } from './picture.ts'
import { tablesOf } from './tables.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Every number that the page shows. */
export const RESULTS = join(root, 'test/bench/results.json')
export const PAGE = join(root, 'docs/performance.md')
export const PICTURE = join(root, 'docs/pictures/performance.svg')

/** Puts the tables of each section between its two markers in the page, and draws the picture. */
export async function writePage(results: Results): Promise<void> {
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), results))
  const picture = ratioPicture(results)
  if (!picture) return
  mkdirSync(dirname(PICTURE), { recursive: true })
  writeFileSync(PICTURE, await drawPicture(picture))
}

/** The page with the tables of these results. A section without results keeps what it has. */
export function withTables(page: string, results: Results): string {
  return SECTIONS.reduce((text, name) => withTablesOf(name, text, results), page)
}

function withTablesOf(name: SectionName, page: string, results: Results): string {
  const [begin, end] = [`<!-- bench: ${name} -->`, `<!-- end of bench: ${name} -->`]
  const [before, rest] = cut(page, begin)
  const [, after] = cut(rest, end)
  const section = results[name]
  return section ? `${before}${begin}\n\n${tablesOf(name, section)}\n\n${end}${after}` : page
}

function cut(text: string, marker: string): readonly [string, string] {
  const parts = text.split(marker)
  const [before, after] = parts
  if (before === undefined || after === undefined || parts.length > 2)
    throw new Error(`docs/performance.md needs the marker "${marker}" once`)
  return [before, after]
}

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../../..')

export interface Page {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

/** A fenced block. `info` is what follows the fence, such as `ts run`. */
export interface Block {
  readonly page: string
  /** Of the first line inside, from 1. */
  readonly line: number
  readonly info: string
  readonly code: string
}

/** README.md and everything under docs/, less docs/site, which makes a site of it. */
export function pages(): Page[] {
  const folders = readdirSync(join(root, 'docs'), { withFileTypes: true }).filter(({ name }) => name !== 'site')
  const found = folders.flatMap((entry) => (entry.isDirectory() ? within(entry.name) : [entry.name]))
  const paths = ['README.md', ...found.filter((path) => path.endsWith('.md')).map((path) => join('docs', path))]
  return paths
    .sort()
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }))
}

function within(folder: string): string[] {
  const found = readdirSync(join(root, 'docs', folder), { recursive: true, encoding: 'utf8' })
  return found.map((path) => join(folder, path))
}

const FENCE = /^(\s*)(`{3,}|~{3,})(.*)$/

export function blocksOf({ path, text }: Page): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; info: string; line: number; lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [, , fence = '', info = ''] = FENCE.exec(line) ?? []
    if (!open && fence) open = { fence, info: info.trim(), line: index + 2, lines: [] }
    else if (open && fence.startsWith(open.fence) && info.trim() === '') {
      blocks.push({ page: path, line: open.line, info: open.info, code: `${open.lines.join('\n')}\n` })
      open = undefined
    } else open?.lines.push(line)
  }
  if (open) throw new Error(`${path}: the block that begins in line ${open.line} has no end`)
  return blocks
}

/** The page's words without its blocks. */
export function proseOf(page: Page): string {
  return blocksOf(page).reduce((text, { code }) => text.replace(code, ''), page.text)
}

export function from(path: string): string {
  return relative(root, path).replaceAll('\\', '/')
}

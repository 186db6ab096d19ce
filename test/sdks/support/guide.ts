import { blocksOf, pages } from '../../documentation/support/pages.ts'

const PATH = 'docs/guides/sdks.md'

export function guide() {
  const page = pages().find(({ path }) => path === PATH)
  if (!page) throw new Error(`There is no ${PATH}`)
  return page
}

/** The measured columns of a row of the guide's table. */
export function guideRow(title: string): string[] {
  const rows = guide()
    .text.split('\n')
    .filter((line) => line.startsWith('|'))
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((one) => one.trim()),
  )
  return cells.find(([first]) => first === title)?.slice(1) ?? [`no row is called ${title}`]
}

/** The guide's programs that name this package. */
export function guideBlocks(): string[] {
  return blocksOf(guide()).map(({ code }) => code)
}

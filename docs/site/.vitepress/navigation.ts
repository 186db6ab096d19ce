/*
 * The navigation follows docs/README.md: a group for each of its headings, with the pages that are linked there, in that
 * order. A page that is in a folder and not in the index comes at the end of its folder's group, so none is left out.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Item {
  readonly text: string
  readonly link?: string
  readonly collapsed?: boolean
  readonly items?: Item[]
}

interface Group extends Item {
  readonly items: Item[]
}

/** Folder of docs/ -> the heading of the index that its pages are under. */
const GROUPS = { concepts: 'Concepts', guides: 'Guides', reference: 'Reference' }
const LEFT_OUT = new Set(['What you get', 'Examples', 'For contributors'])
const SUBGROUP = /^(For [a-z ]+|Client|Server|Tests):/

export function sidebarOf(docs: string): Group[] {
  const sections = readFileSync(join(docs, 'README.md'), 'utf8').split(/^## /m).slice(1)
  const seen = new Set<string>()
  const listed = sections.filter((section) => !LEFT_OUT.has(headingOf(section)))
  const groups = listed.map((section) => groupOf(docs, section, seen))
  for (const [folder, text] of Object.entries(GROUPS)) {
    const group = groups.find((one) => one.text === text)
    group?.items.push(...pagesIn(docs, folder).filter((page) => !isListed(group.items, page)))
  }
  return [...groups, contributors(docs)]
}

function headingOf(section: string): string {
  return section.split('\n', 1)[0] ?? ''
}

/** A page that the index names twice is where it is named first. */
function groupOf(docs: string, section: string, seen: Set<string>): Group {
  const items = section
    .split(/^- /m)
    .slice(1)
    .flatMap((bullet): Item[] => {
      const fresh = linksIn(bullet).filter((link) => !seen.has(link) && seen.add(link))
      const pages = fresh.map((link) => pageAt(docs, link))
      const title = SUBGROUP.exec(bullet)?.[1]
      return title && pages.length > 1 ? [{ text: title, collapsed: false, items: pages }] : pages
    })
  return { text: headingOf(section), collapsed: false, items }
}

function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([\w./-]+\.md)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
}

function isListed(items: readonly Item[], page: Item): boolean {
  return items.some((item) => item.link === page.link || isListed(item.items ?? [], page))
}

function pagesIn(docs: string, folder: string): Item[] {
  const names = readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md'))
  return names.sort().map((name) => pageAt(docs, `${folder}/${name}`))
}

function contributors(docs: string): Group {
  const first = pageAt(docs, 'internals/overview.md')
  const inside = pagesIn(docs, 'internals').filter(({ link }) => link !== first.link)
  const decisions = { text: 'Decisions', collapsed: true, items: pagesIn(docs, 'decisions') }
  return { text: 'For contributors', collapsed: true, items: [first, ...inside, decisions] }
}

/** Its heading is its name. Pages outside of docs/ are at the top of the site. */
function pageAt(docs: string, path: string): Item {
  const [, heading = path] = /^# (.*)$/m.exec(readFileSync(join(docs, path), 'utf8')) ?? []
  return { text: heading.replaceAll('`', ''), link: `/${path.replace(/^(\.\.\/)+/, '').replace(/\.md$/, '')}` }
}

/** The generated reference, where it was generated: a page for each door. */
export function apiGroup(folder: string): Group[] {
  if (!existsSync(folder)) return []
  const doors = readdirSync(folder).filter((name) => name.startsWith('holdfast') && name.endsWith('.md'))
  const names = doors.map((name) => name.replace(/\.md$/, '')).sort()
  const items = names.map((name) => ({ text: name.replaceAll('.', '/'), link: `/api/${name}` }))
  return [{ text: 'API, from the types', collapsed: true, items }]
}

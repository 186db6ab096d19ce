import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Item, sidebarOf } from '../../docs/site/.vitepress/navigation.ts'
import { headingAnchor } from '../../docs/site/heading-anchor.ts'
import { blocksOf, pages, root } from './support/pages.ts'

const flat = (items: readonly Item[]): Item[] => items.flatMap((item) => [item, ...flat(item.items ?? [])])
const links = flat(sidebarOf(join(root, 'docs'))).flatMap(({ link }) => link ?? [])

const anchorsOf = (page: string): string[] =>
  [...readFileSync(join(root, `docs${page}.md`), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    headingAnchor(heading),
  )

describe('the navigation of the site', () => {
  it('has every page once', () => {
    const paths = pages().map(({ path }) => path)
    const expected = paths.filter((path) => path !== 'README.md' && path !== 'docs/README.md')
    const names = expected.map((path) => path.replace(/^docs/, '').replace(/\.md$/, ''))
    expect([...links].sort()).toEqual([...names, '/CHANGELOG', '/SECURITY'].sort())
  })

  it('is led by what the pages are called', () => {
    const unnamed = flat(sidebarOf(join(root, 'docs'))).filter(({ text }) => text === '' || text.endsWith('.md'))
    expect(unnamed).toEqual([])
  })

  it('is led to by the pages that are tried out', () => {
    for (const name of ['try-delays', 'try-history']) {
      const text = readFileSync(join(root, `docs/site/pages/${name}.md`), 'utf8')
      const targets = [...text.matchAll(/\]\((\/[^)#]*)(?:#([^)]*))?\)/g)]
      expect(targets.length).toBeGreaterThan(0)
      expect(targets.filter(([, page = '']) => !links.includes(page))).toEqual([])
      expect(targets.filter(([, page = '', anchor]) => anchor && !anchorsOf(page).includes(anchor))).toEqual([])
      expect(blocksOf({ path: name, text })).toEqual([])
    }
  })
})

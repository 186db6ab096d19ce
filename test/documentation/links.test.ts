import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { headingAnchor } from '../../docs/site/heading-anchor.ts'
import { from, type Page, pages, proseOf, root } from './support/pages.ts'

const all = pages()

interface Link {
  readonly page: string
  /** From the root of the repository. */
  readonly path: string
  readonly anchor: string
}

describe('the documentation', () => {
  it('has no dead relative link', () => {
    const dead = all.flatMap(linksOf).filter(({ path, anchor }) => !isThere(path, anchor))
    expect(dead).toEqual([])
  })

  it('leads, from every page that is in the package, only to what is in the package', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: readonly string[] }
    const packed = [...files.filter((file) => !file.startsWith('!')), 'README.md', 'LICENSE', 'package.json']
    const leftOut = files.filter((file) => file.startsWith('!')).map((file) => file.slice(1))
    const isIn = (path: string) => (file: string) => path === file || path.startsWith(`${file}/`)
    const isPacked = (path: string): boolean => packed.some(isIn(path)) && !leftOut.some(isIn(path))
    expect(all.filter(({ path }) => !isPacked(path))).toEqual([])
    expect(all.flatMap(linksOf).filter(({ path }) => !isPacked(path))).toEqual([])
  })

  it('names only sources, tests and examples that exist', () => {
    const gone = all.flatMap((page) =>
      pathsOf(page)
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${page.path}: ${path}`),
    )
    expect(gone).toEqual([])
  })

  it('can be reached, every page of it, from the README', () => {
    const reached = new Set(['README.md'])
    for (const path of reached) {
      const page = all.find((candidate) => candidate.path === path)
      for (const link of page ? linksOf(page) : []) reached.add(link.path)
    }
    // Decisions are read one by one; their folder is linked.
    const lost = all.filter(({ path }) => !reached.has(path) && !path.startsWith('docs/decisions/'))
    expect(lost.map(({ path }) => path)).toEqual([])
  })

  it('names no place outside itself', () => {
    const strange = all.filter(({ text }) => /\/(?:work|tmp|home)\/|file:\/\//.test(text))
    expect(strange.map(({ path }) => path)).toEqual([])
  })
})

function linksOf(page: Page): Link[] {
  const targets = [...proseOf(page).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor = ''] = target.split('#')
      const file = path === '' ? join(root, page.path) : join(root, dirname(page.path), path)
      return { page: page.path, path: from(file), anchor }
    })
}

function isThere(path: string, anchor: string): boolean {
  const file = join(root, path)
  if (!existsSync(file)) return false
  if (anchor === '') return true
  return statSync(file).isFile() && anchorsOf(readFileSync(file, 'utf8')).includes(anchor)
}

/** The second heading of the same name has a number behind it. */
function anchorsOf(text: string): string[] {
  const anchors: string[] = []
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.*)$/gm)) {
    const anchor = headingAnchor(heading)
    const before = anchors.filter((one) => one === anchor || one.replace(/-\d+$/, '') === anchor).length
    anchors.push(before > 0 ? `${anchor}-${before}` : anchor)
  }
  return anchors
}

function pathsOf({ text }: Page): string[] {
  return [...text.matchAll(/(?<![\w./-])(?:src|test|examples|build)\/[\w./-]*[\w/]/g)].map(([path]) => path)
}

import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bundleForPage } from '../support/bundle-for-page.ts'

/** Bytes after `gzip -9`. A little above what it is: growing is a decision, and is made here. */
const CEILINGS = [
  {
    what: 'createClient and memoryJournal',
    ceiling: 73_500,
    program: `
      import { createClient, memoryJournal } from './src/index.ts'
      globalThis.client = createClient({ journal: memoryJournal() })`,
  },
  {
    what: 'createClient and indexedDbJournal',
    ceiling: 73_500,
    program: `
      import { createClient } from './src/index.ts'
      import { indexedDbJournal } from './src/indexeddb/index.ts'
      globalThis.client = createClient({ journal: indexedDbJournal() })`,
  },
]

describe('the size of a page that uses', () => {
  it.each(CEILINGS)('$what stays below $ceiling bytes', async ({ what, ceiling, program }) => {
    const text = await bundleForPage(program)
    const size = gzipSync(text, { level: 9 }).length
    console.log(`${what}: ${text.length} bytes, ${size} after gzip`)
    expect(size).toBeLessThan(ceiling)
    // Bundled at all, and not into nothing.
    expect(size).toBeGreaterThan(10_000)
  })
})

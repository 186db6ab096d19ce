import { describe, expect, it } from 'vitest'
import { readSourceTree, type SourceFile, sourceTree } from '../support/source-tree.ts'

/** Where every file of tests has a process of its own. */
const ISOLATED = /^(architecture|bench|browser|crash|documentation|end-to-end|fetch-parity|hunt|sdks|simulation)\//

/**
 * Files of fast tests share a process, and so what they import: it is read once, and a hook that it sets outside of
 * every function is one of the first file alone. What the others open would stay open, and nobody would notice.
 */
function strayHooks(files: readonly SourceFile[]): string[] {
  const shared = files.filter(({ path }) => !ISOLATED.test(path) && !path.endsWith('.test.ts'))
  return shared.filter(({ text }) => /^(before|after)(All|Each)\(/m.test(text)).map(({ path }) => path)
}

describe('what fast tests share', () => {
  it('sets hooks only when it is called', () => {
    expect(strayHooks(readSourceTree('test'))).toEqual([])
  })

  it('would be noticed otherwise', () => {
    const files = sourceTree({ 'support/a.ts': 'afterEach(() => {})', 'unit/a.test.ts': 'afterEach(() => {})' })
    expect(strayHooks(files)).toEqual(['support/a.ts'])
  })
})

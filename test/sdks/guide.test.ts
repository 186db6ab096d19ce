import { expect, it } from 'vitest'
import { guideBlocks, snippets } from './support/guide.ts'

it('shows in the guide what these tests run, and nothing else', () => {
  expect(
    guideBlocks()
      .map(({ code }) => code)
      .sort(),
  ).toEqual(snippets().sort())
})

import { describe, expect, it } from 'vitest'
import { Tutorial } from './support/tutorial.ts'

describe('the tutorial', () => {
  it('followed to the letter prints what it shows', async ({ onTestFinished }) => {
    const tutorial = await Tutorial.open()
    onTestFinished(() => tutorial.close())
    await tutorial.follow()
    expect(tutorial.outputs.length).toBeGreaterThan(4)
    for (const { line, said, shown } of tutorial.outputs) expect(said, `docs/tutorial.md:${line}`).toBe(shown)
  }, 240_000)
})

import { afterAll, describe, expect, it } from 'vitest'
import { Tutorial } from './support/tutorial.ts'

describe('the tutorial', async () => {
  const tutorial = await Tutorial.open()
  afterAll(() => tutorial.close())

  it('followed to the letter prints what it shows', async () => {
    await tutorial.follow()
    expect(tutorial.outputs.length).toBeGreaterThan(4)
    for (const { line, said, shown } of tutorial.outputs) expect(said, `docs/tutorial.md:${line}`).toBe(shown)
  }, 60_000)
})

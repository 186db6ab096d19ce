import { describe, expect, it } from 'vitest'
import { MUTATIONS } from './mutations.ts'
import { runMutant } from './run-mutant.ts'

describe('the simulation finds', () => {
  it.for(MUTATIONS)('$name, within $within histories', { timeout: 600_000 }, async (mutation, { signal }) => {
    const { took, failed } = await runMutant(mutation, { ...mutation, signal })
    const [first] = failed
    expect(first, `not found in ${took} histories`).toBeDefined()
    const promises = first?.broken.map(({ promise }) => promise)
    expect(mutation.breaks).toEqual(expect.arrayContaining([expect.toBeOneOf(promises ?? [])]))
    expect(first?.trace.some((line) => line.includes('BROKEN'))).toBe(true)
  })

  it('nothing in the product as it is', { timeout: 600_000 }, async ({ signal }) => {
    expect(await runMutant(undefined, { from: 1, within: 100, signal })).toEqual({ took: 100, failed: [] })
  })

  it('no place for a fault that the product no longer has', async () => {
    const gone = { file: 'src/client/policy/decide.ts', find: 'no such words', replace: '' }
    await expect(runMutant(gone, { from: 1, within: 1 })).rejects.toThrow('0 places')
  })
})

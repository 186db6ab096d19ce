import { expect, it } from 'vitest'
import { sqliteBackstage } from './backstage.ts'
import { shortHunt } from './short-hunt.ts'

it('does each operation once, answers it alike and tells the truth, while both halves, the network and its store break', async () => {
  const result = await shortHunt('test/hunt/hunt.test.ts', sqliteBackstage)
  expect(result.accepted).toBeGreaterThanOrEqual(60)
  expect(Object.keys(result.notDealt)).toEqual(['backend terminated', 'Postgres restart'])
  expect(result.claims).toMatchObject({ 'caller: answered, applied': expect.any(Number) })
}, 180_000)

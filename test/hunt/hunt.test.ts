import { expect, it } from 'vitest'
import { shortHunt } from './short-hunt.ts'
import { sqliteBackstage } from './sqlite-backstage.ts'

it('does each operation once, answers it alike and tells the truth, while both halves, the network and its store break', async () => {
  const result = await shortHunt('test/hunt/hunt.test.ts', sqliteBackstage)
  expect(result.accepted).toBeGreaterThanOrEqual(60)
  expect(Object.keys(result.notDealt)).toEqual([
    'backend terminated',
    'half-open connection',
    'replica cut off',
    'pool exhausted',
    'Postgres restart',
    'Postgres kill',
  ])
  expect(result.claims).toMatchObject({ 'caller: answered, applied': expect.any(Number) })
}, 180_000)

import { expect, it } from 'vitest'
import { answerCases, requestCases } from './all-cases.ts'
import { browserOnly } from './cases/browser-only.ts'
import { nodeOnly } from './cases/node-only.ts'
import { differences } from './differences.ts'
import { casesIn, differenceIn } from './support/parity-case.ts'

const all = [...requestCases, ...answerCases, ...nodeOnly, ...browserOnly]

it.each(['node', 'browser'] as const)('has one case of a name (%s)', (platform) => {
  const names = casesIn(platform, all).map(({ name }) => name)
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([])
})

it('has a case for each difference', () => {
  const used = new Set(all.flatMap((each) => [differenceIn('node', each), differenceIn('browser', each)]))
  expect(Object.keys(differences).filter((name) => !used.has(name as never))).toEqual([])
})

import { expect, it } from 'vitest'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { BlowTable, neverStruck } from '../support/blow-table.ts'

const table = () =>
  new BlowTable({ kill: 'dealt', freeze: 'dealt', cut: 'dealt', restart: { never: 'there is nothing to restart' } })

it('deals each blow before any comes again by dice', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const blows = table()
    const random = seededRandom(seed)
    for (let n = 0; n < 3; n++) blows.struck(blows.next(random, { kill: 1000, freeze: 1, cut: 1 }) ?? 'restart')
    expect(blows.counts).toEqual({ kill: 1, freeze: 1, cut: 1 })
  }
})

it('deals a blow again that did not hit', () => {
  const blows = table()
  blows.struck('kill')
  blows.struck('cut')
  for (let n = 0; n < 5; n++) expect(blows.next(Math.random, { kill: 1, freeze: 1, cut: 1 })).toBe('freeze')
})

it('names each blow that never struck, and why another is not dealt', () => {
  const blows = table()
  blows.struck('kill')
  expect(neverStruck(blows.counts)).toEqual([
    'The blow "freeze" never struck: this run says nothing about it',
    'The blow "cut" never struck: this run says nothing about it',
  ])
  expect(blows.notDealt).toEqual({ restart: 'there is nothing to restart' })
})

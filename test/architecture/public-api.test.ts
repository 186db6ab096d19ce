import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BROWSER_DOOR, DOORS, RECORD, surfaceOf } from './public-api.ts'

describe('the public surface', () => {
  it.each(['exports', 'declarations'] as const)('has the %s that are on record (npm run api:update)', (part) => {
    expect(surfaceOf(DOORS)[part]).toBe(readFileSync(RECORD[part], 'utf8'))
  })

  it('is the same in browsers and in Node', () => {
    const [browser, node] = [surfaceOf([BROWSER_DOOR]), surfaceOf(['dist/index.d.ts'])]
    expect(browser.declarations).toBe(node.declarations)
    expect(browser.exports.split('\n').slice(1)).toEqual(node.exports.split('\n').slice(1))
  })
})

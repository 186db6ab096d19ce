import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { API_RECORDS, BROWSER_DOOR, publicApi, recordPath } from './public-api.ts'

describe('the public surface', () => {
  it.each(Object.entries(API_RECORDS))('of %s is what is on record (npm run api:update)', (name, entry) => {
    expect(existsSync(recordPath(name)), `${recordPath(name)} exists`).toBe(true)
    expect(publicApi(entry)).toBe(readFileSync(recordPath(name), 'utf8'))
  })

  it('is the same in browsers and in Node', () => {
    expect(publicApi(BROWSER_DOOR)).toBe(publicApi('dist/index.d.ts'))
  })
})

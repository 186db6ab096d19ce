import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { browserEntries, nodeEntries } from '../../tsup.config.ts'
import { readSourceTree } from '../support/source-tree.ts'
import { type DoorPlan, doorMismatches } from './laws/doors.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Pick<DoorPlan, 'exports'>
const files = readSourceTree('src').map((file) => file.path)
const plan: DoorPlan = { files, exports: manifest.exports, nodeEntries, browserEntries }

describe('the public doors', () => {
  it('are the same in src, in the build and in the exports map', () => {
    expect(doorMismatches(plan)).toEqual([])
  })

  it.each([
    ['a door that is not exported', { ...plan, files: [...files, 'attic/index.ts'] }],
    ['an export without a door', { ...plan, exports: { ...plan.exports, './attic': './dist/attic.js' } }],
    ['an entry without a door', { ...plan, nodeEntries: { ...nodeEntries, 'attic/index': 'src/attic/index.ts' } }],
    ['a door that is not built', { ...plan, nodeEntries: {} }],
    ['a door that leads elsewhere', { ...plan, exports: { ...plan.exports, './sqlite': './dist/index.js' } }],
  ])('would notice %s', (_, broken) => expect(doorMismatches(broken)).not.toEqual([]))
})

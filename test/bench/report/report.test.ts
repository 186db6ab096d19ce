import { readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Comparison, readResults, SECTIONS, type Section } from '../results.ts'
import { QUICK } from '../terms.ts'
import { noisySections } from './noise.ts'
import { PAGE, PICTURE, RESULTS, withTables } from './page.ts'
import { ratioPicture } from './picture.ts'
import { ratioOf } from './spread.ts'
import { tablesOf } from './tables.ts'

const peer = { name: 'undici.request', rates: [1000, 2000, 1500], cpuMicros: [100, 120, 110] }
const ours = { name: 'Holdfast', rates: [500, 1500, 900], cpuMicros: [200, 220, 210] }
const comparison: Comparison = {
  title: 'POST',
  concurrency: 64,
  baseline: peer.name,
  measured: [peer, { ...peer, name: 'fetch' }, ours],
}
const section: Section = {
  quick: false,
  measuredOn: '2026-01-02',
  node: 'v20.19.0',
  machine: 'Linux, 2 cores',
  terms: { ...QUICK, rounds: 3, roundMs: 600 },
  comparisons: [comparison],
}

describe('a ratio', () => {
  it('compares two clients in the same round', () => {
    expect(ratioOf(comparison, 'Holdfast')).toEqual({ median: 0.6, min: 0.5, max: 0.75 })
  })
})

describe('the tables', () => {
  it('have the rate of the peer, and the ratio of the others with its spread', () => {
    const text = tablesOf('post', section)
    expect(text).toContain('| undici.request, per second | 1,500 |')
    expect(text).toContain('| Holdfast | 0.60 (0.50-0.75) |')
  })

  it('say where the numbers come from', () => {
    const origin = 'Measured on 2026-01-02, Linux, 2 cores, Node 20.19.0; 3 rounds of 0.6 s, median (min-max).'
    expect(tablesOf('post', section)).toContain(origin)
  })

  it('say that a quick run measures nothing', () => {
    expect(tablesOf('post', { ...section, quick: true })).toContain('placeholders, not measurements')
    expect(tablesOf('post', section)).not.toContain('placeholders')
  })
})

describe('a noisy machine', () => {
  const quiet = { ...comparison, measured: [{ ...peer, rates: [1000, 1100, 1050] }, ours] }

  it('is told by the rounds of the peer', () => {
    expect(noisySections({ post: section })).toEqual([expect.stringContaining('by up to 67 % (POST at 64)')])
    expect(tablesOf('post', section)).toContain('The machine was noisy.')
  })

  it('is not one where the peer is steady', () => {
    expect(noisySections({ post: { ...section, comparisons: [quiet] } })).toEqual([])
  })
})

describe('the performance page', () => {
  const page = readFileSync(PAGE, 'utf8')

  it('has the tables of the numbers that are on record, for every section (npm run bench -- --only none --write)', () => {
    const results = readResults(RESULTS)
    expect(Object.keys(results).sort()).toEqual([...SECTIONS].sort())
    expect(withTables(page, results)).toBe(page)
  })

  it('keeps its words when its tables are written', () => {
    const written = withTables(page, { post: section })
    expect(written).not.toBe(page)
    expect(withTables(written, readResults(RESULTS))).toBe(page)
  })

  it('needs a place for every section', () => {
    expect(() => withTables('# Performance', { post: section })).toThrow('needs the marker "<!-- bench: get -->" once')
  })

  it('has a picture that is small', () => {
    expect(statSync(PICTURE).size).toBeLessThan(30_000)
  })
})

describe('the picture', () => {
  it('shows each client but the peer, for those who cannot see it too', () => {
    expect(ratioPicture({ post: section })?.description).toContain('POST Holdfast 0.60')
    expect(ratioPicture({})).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { drawPicture } from '../../pictures/draw.ts'
import type { BlipCall } from './blip-client-program.ts'
import { blipRow } from './blip-row.ts'
import { type BlipTrial, blipTrials } from './blip-trial.ts'
import { blipsPicture } from './blips-picture.ts'
import { socketBlipsReport } from './socket-blips-report.ts'

const TRIAL: BlipTrial = { fault: '503', lastsMs: 1000, perSecond: 100, start: 'warm' }
const LAG = { p99Ms: 1, longestMs: 5 }
const SERVER = {
  requests: new Map([
    ['before', 1],
    ['patient', 3],
    ['unlucky', 2],
    ['after', 1],
  ]),
  failedFrom: 1004,
  failedUntil: 2001,
  mostAtOnce: 2,
  lag: { p99Ms: 3, longestMs: 4 },
}
const CALLS: BlipCall[] = [
  { key: 'before', isBeside: false, startedAt: 1003, endedAt: 1013, attempts: 1 },
  { key: 'patient', isBeside: false, startedAt: 1100, endedAt: 2300, attempts: 3 },
  { key: 'unlucky', isBeside: false, startedAt: 1200, endedAt: 1300, attempts: 2, failure: 'budget' },
  { key: 'never sent', isBeside: false, startedAt: 2000, endedAt: 2000, attempts: 0, failure: 'budget' },
  { key: 'after', isBeside: false, startedAt: 2001, endedAt: 2011, attempts: 1 },
  { key: 'beside before', isBeside: true, startedAt: 1003, endedAt: 1500, attempts: 1 },
  { key: 'beside', isBeside: true, startedAt: 1100, endedAt: 1112, attempts: 1 },
]
const ROW = blipRow(TRIAL, 'Holdfast', { client: { calls: CALLS, lag: LAG }, server: SERVER })

describe('the figures of a blip', () => {
  it('are those of the calls begun while the server itself saw the blip', () => {
    expect(ROW).toEqual({
      ...TRIAL,
      client: 'Holdfast',
      calls: 5,
      attempts: 7,
      requests: 7,
      callsIn: 3,
      successIn: 1 / 3,
      successAfter: 1,
      attemptsIn: 5 / 3,
      requestsIn: 5 / 3,
      p50Ms: 1200,
      p99Ms: 1200,
      besideSuccess: 1,
      besideP99Ms: 12,
      failures: { budget: 2 },
      lag: { p99Ms: 3, longestMs: 5 },
      wasBusy: false,
    })
  })

  it('are a row of the report', () => {
    expect(socketBlipsReport([ROW]).split('\n').at(-1)).toMatch(
      /^\| 1 s, 100\/s +\| Holdfast +\| 33 +\| 1.67 +\| 1.67 +\| 1.2 s \| 1.2 s \| 100 +\| 7 for 5 +\| 100 +\| 12 ms +\| budget 2 +\|$/,
    )
    expect(socketBlipsReport([{ ...ROW, wasBusy: true }])).toContain('| 1 s, 100/s ! |')
  })

  it('are a point in the picture of a second at 100 calls per second', async () => {
    const other = { ...ROW, client: 'got', attemptsIn: 3, successIn: 1 } as const
    const picture = blipsPicture([ROW, other, { ...ROW, lastsMs: 300, client: 'p-retry + fetch' }])
    expect(picture?.description).toContain('503: Holdfast 1.67 and 33.3 %; on the front: Holdfast; got.')
    const svg = picture && (await drawPicture(picture))
    expect(svg).toContain('>got<')
    expect(svg).not.toContain('p-retry')
    expect(blipsPicture([{ ...ROW, lastsMs: 300 }])).toBeUndefined()
  })
})

it('every choice makes a trial of its own', () => {
  const choice = { faults: ['503', 'hang'], seconds: [0.3, 1], rates: [10], starts: ['warm'], clients: [] } as const
  expect(blipTrials(choice)).toEqual([
    { fault: '503', lastsMs: 300, perSecond: 10, start: 'warm' },
    { fault: '503', lastsMs: 1000, perSecond: 10, start: 'warm' },
    { fault: 'hang', lastsMs: 300, perSecond: 10, start: 'warm' },
    { fault: 'hang', lastsMs: 1000, perSecond: 10, start: 'warm' },
  ])
})

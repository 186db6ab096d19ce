import { describe, expect, it } from 'vitest'
import { type Quota, readQuota } from '../../../src/protocol/rate-limit.ts'

const NOW = 1_750_000_000_000
const read = (headers: Record<string, string>): Quota | undefined => readQuota(Object.entries(headers), NOW)

describe('a quota of the drafts from 3 to 7', () => {
  it('has what is left, its time, and all of it', () => {
    expect(read({ ratelimit: 'limit=100, remaining=5, reset=30' })).toEqual({
      remaining: 5,
      resetMs: 30_000,
      limit: 100,
    })
    expect(read({ ratelimit: 'remaining=0,reset=2', 'ratelimit-policy': '100;w=60' })).toEqual({
      remaining: 0,
      resetMs: 2000,
      limit: undefined,
    })
  })

  it.each([
    'limit=100, remaining=5',
    'limit=100, reset=5',
    'remaining=-1, reset=5',
    'remaining=, reset=5',
    'remaining',
  ])('is none if it is %j', (ratelimit) => expect(read({ ratelimit })).toBeUndefined())
})

describe('a quota of the current draft', () => {
  it('has what is left, its time, and all of it if the policy says so', () => {
    const ratelimit = '"default";r=50;t=30'
    expect(read({ ratelimit, 'ratelimit-policy': '"default";q=100;w=60' })).toEqual({
      remaining: 50,
      resetMs: 30_000,
      limit: 100,
    })
    expect(read({ ratelimit })).toEqual({ remaining: 50, resetMs: 30_000, limit: undefined })
    expect(read({ ratelimit, 'ratelimit-policy': '"other";q=100;w=60' })?.limit).toBeUndefined()
  })

  it('is the one of several that is used up first', () => {
    const policies = { 'ratelimit-policy': '"day";q=1000;w=86400, "burst";q=100;w=60' }
    expect(read({ ratelimit: '"burst";r=90;t=6, "day";r=3;t=3600', ...policies })).toEqual({
      remaining: 3,
      resetMs: 3_600_000,
      limit: 1000,
    })
    expect(read({ ratelimit: '"day";r=900;t=360,"burst";r=1;t=6', ...policies })).toMatchObject({
      remaining: 1,
      limit: 100,
    })
  })

  it('is read with spaces and parameters that are not known', () => {
    const ratelimit = ' "default" ; r=5 ; t=7 ; pk=:cHsdsRa894==: '
    expect(read({ ratelimit, 'ratelimit-policy': '"default"; q=9; qu="requests"' })).toEqual({
      remaining: 5,
      resetMs: 7000,
      limit: 9,
    })
  })

  it.each([
    '',
    '"default"',
    '"default";r=5',
    '"default";t=5',
    '"default";r=-1;t=5',
    '"default";r=x;t=5',
    '"default";r=1.5;t=5',
    ';;;',
    'r=5, t=5',
    `"default";r=${'9'.repeat(16)};t=5`,
  ])('is none if it is %j', (ratelimit) => expect(read({ ratelimit })).toBeUndefined())

  it('that makes no sense leaves the older form', () => {
    const older = { 'ratelimit-remaining': '4', 'ratelimit-reset': '8' }
    expect(read({ ratelimit: 'nonsense', ...older })).toMatchObject({ remaining: 4 })
    expect(read({ ratelimit: '"default";r=50;t=30', ...older })).toMatchObject({ remaining: 50 })
  })
})

describe.each(['ratelimit', 'x-ratelimit'])('a quota by %s-remaining', (name) => {
  const of = (remaining: string, reset: string, limit?: string): Quota | undefined =>
    read({ [`${name}-remaining`]: remaining, [`${name}-reset`]: reset, ...(limit && { [`${name}-limit`]: limit }) })

  it('has what is left, its time, and all of it if the server says so', () => {
    expect(of('5', '30', '100')).toEqual({ remaining: 5, resetMs: 30_000, limit: 100 })
    expect(of(' 5 ', '30')).toEqual({ remaining: 5, resetMs: 30_000, limit: undefined })
  })

  it('begins anew at a point in time', () => {
    expect(of('5', `${NOW / 1000 + 30}`)?.resetMs).toBe(30_000)
    expect(of('5', `${NOW + 30_000}`)?.resetMs).toBe(30_000)
    expect(of('5', `${NOW / 1000 - 30}`)?.resetMs).toBe(0)
  })

  it.each([
    ['', '30'],
    ['-1', '30'],
    ['many', '30'],
    ['1.5', '30'],
    ['5', ''],
    ['5', 'soon'],
    ['9'.repeat(16), '30'],
  ])('is none if it is %j until %j', (remaining, reset) => {
    expect(of(remaining, reset)).toBeUndefined()
  })

  it('has an unknown whole if that makes no sense', () => {
    expect(of('5', '30', '100, 100;w=60')).toMatchObject({ remaining: 5, limit: undefined })
  })
})

it('a quota by the clock of the server counts by its `Date`', () => {
  const date = new Date(NOW - 3_600_000).toUTCString()
  expect(read({ date, 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': `${NOW / 1000 - 3590}` })?.resetMs).toBe(
    10_000,
  )
})

it('a quota is none if half of it is missing, or nothing is said of one', () => {
  expect(read({ 'x-ratelimit-remaining': '5' })).toBeUndefined()
  expect(read({ 'x-ratelimit-reset': '5' })).toBeUndefined()
  expect(read({ 'ratelimit-remaining': '5', 'x-ratelimit-reset': '5' })).toBeUndefined()
  expect(read({ date: new Date(NOW).toUTCString() })).toBeUndefined()
})

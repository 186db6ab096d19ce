import { describe, expect, it } from 'vitest'
import { EXPERIMENTS, HELP, readArguments } from './arguments.ts'

const options = (line: string): ReturnType<typeof readArguments> =>
  readArguments(line.split(' ').filter((word) => word !== ''))

describe('the arguments', () => {
  it('run everything by default', () => {
    expect(options('')).toEqual({
      clients: [100, 1000, 10_000, 100_000],
      seed: 1,
      only: EXPERIMENTS,
      json: undefined,
      pictures: undefined,
    })
  })

  it('are read', () => {
    expect(options('--clients 5,70 --seed=9 --only fleet,layers --json a.json --pictures b')).toEqual({
      clients: [5, 70],
      seed: 9,
      only: ['fleet', 'layers'],
      json: 'a.json',
      pictures: 'b',
    })
  })

  it.each([
    ['--cleints 5', 'There is no option --cleints.'],
    ['-x', 'There is no option --x.'],
    ['fleet', 'I don\'t know what to do with "fleet".'],
    ['--only storm', 'There is no experiment "storm".'],
    ['--clients 5,many', '--clients takes whole numbers from 1; "many" is none.'],
    ['--clients 0', '--clients takes whole numbers from 1'],
    ['--seed 1.5', '--seed takes whole numbers from 0'],
    ['--json', '--json needs a value.'],
  ])('%s is refused with a sentence', (line, sentence) => {
    expect(() => options(line)).toThrow(sentence)
  })

  it('ask for help', () => {
    expect(options('--help')).toBe('help')
    for (const name of ['only', 'clients', 'seed', 'json', 'pictures']) expect(HELP).toContain(`--${name} `)
  })
})

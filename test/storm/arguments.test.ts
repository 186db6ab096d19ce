import { describe, expect, it } from 'vitest'
import { EXPERIMENTS, HELP, readArguments } from './arguments.ts'
import { GROUP_NAMES } from './experiments/situation-groups.ts'

const options = (line: string): ReturnType<typeof readArguments> =>
  readArguments(line.split(' ').filter((word) => word !== ''))

describe('the arguments', () => {
  it('run everything by default', () => {
    expect(options('')).toEqual({
      clients: [100, 1000, 10_000],
      seed: 1,
      only: EXPERIMENTS,
      situations: GROUP_NAMES,
      json: undefined,
      pictures: undefined,
    })
  })

  it('are read', () => {
    expect(options('--clients 5,70 --seed=9 --only load,layers --json a.json --pictures b')).toEqual({
      clients: [5, 70],
      seed: 9,
      only: ['load', 'layers'],
      situations: GROUP_NAMES,
      json: 'a.json',
      pictures: 'b',
    })
  })

  it('run nothing but the situations that are named', () => {
    expect(options('--situations half,tabs')).toMatchObject({ only: ['situations'], situations: ['half', 'tabs'] })
    expect(options('--situations half --only layers')).toMatchObject({ only: ['layers'], situations: ['half'] })
  })

  it.each([
    ['--cleints 5', 'There is no option --cleints.'],
    ['-x', 'There is no option --x.'],
    ['load', 'I don\'t know what to do with "load".'],
    ['--only storm', 'There is no experiment "storm".'],
    ['--situations storm', 'There is no situation "storm".'],
    ['--clients 5,many', '--clients takes whole numbers from 1; "many" is none.'],
    ['--clients 0', '--clients takes whole numbers from 1'],
    ['--seed 1.5', '--seed takes whole numbers from 0'],
    ['--json', '--json needs a value.'],
  ])('%s is refused with a sentence', (line, sentence) => {
    expect(() => options(line)).toThrow(sentence)
  })

  it('ask for help', () => {
    expect(options('--help')).toBe('help')
    for (const name of ['only', 'situations', 'clients', 'seed', 'json', 'pictures'])
      expect(HELP).toContain(`--${name} `)
  })
})

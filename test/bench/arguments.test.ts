import { describe, expect, it } from 'vitest'
import { HELP, readArguments } from './arguments.ts'
import { SECTIONS } from './results.ts'
import { FULL, QUICK } from './terms.ts'

const options = (line: string): ReturnType<typeof readArguments> =>
  readArguments(line.split(' ').filter((word) => word !== ''))

describe('the arguments', () => {
  it('measure everything by default, and write nothing', () => {
    const expected = { only: SECTIONS, quick: false, terms: FULL, json: undefined, write: false }
    expect(options('')).toEqual(expected)
  })

  it('are read', () => {
    expect(options('--only get,heap --seconds 0.25 --rounds 5 --json a.json --write')).toEqual({
      only: ['get', 'heap'],
      quick: false,
      terms: { ...FULL, rounds: 5, roundMs: 250 },
      json: 'a.json',
      write: true,
    })
    expect(options('--quick')).toMatchObject({ quick: true, terms: QUICK })
    expect(options('--only none')).toMatchObject({ only: [] })
    expect(options('--help')).toBe('help')
  })

  it('are explained, each of them', () => {
    for (const name of ['only', 'seconds', 'rounds', 'quick', 'json', 'write', 'help'])
      expect(HELP).toContain(`--${name}`)
  })

  it.each([
    ['--only put', 'There is no section "put"'],
    ['--seconds 0', '--seconds takes a positive number; "0" is none.'],
    ['--rounds many', '--rounds takes a positive number; "many" is none.'],
    ['--fast', "Unknown option '--fast'"],
  ])('are refused: %s', (line, sentence) => expect(() => options(line)).toThrow(sentence))
})

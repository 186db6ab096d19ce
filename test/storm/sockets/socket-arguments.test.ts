import { describe, expect, it } from 'vitest'
import { FAULTS } from '../experiments/troubles.ts'
import { CLIENT_NAMES } from './blips/blip-trial.ts'
import { HELP, readSocketArguments } from './socket-arguments.ts'

const options = (line: string): ReturnType<typeof readSocketArguments> =>
  readSocketArguments(line.split(' ').filter((word) => word !== ''))

describe('the arguments of the trials over sockets', () => {
  it('run everything by default', () => {
    expect(options('')).toEqual({
      only: ['model', 'blips', 'backlog'],
      runs: 3,
      trials: ['share', 'capacity', 'outage'],
      blips: {
        faults: FAULTS,
        seconds: [0.3, 1, 3, 5],
        rates: [10, 100],
        starts: ['warm', 'started'],
        clients: CLIENT_NAMES,
        atOnce: 2,
      },
      operations: 10_000,
      json: undefined,
      pictures: undefined,
    })
  })

  it('run nothing but the model if one of its trials is named', () => {
    expect(options('--trial outage --runs 1')).toMatchObject({ only: ['model'], trials: ['outage'], runs: 1 })
  })

  it('choose blips', () => {
    expect(
      options('--only blips --fault hang --seconds 0.3,2 --rate 300 --start started --client ky,Holdfast'),
    ).toMatchObject({
      only: ['blips'],
      blips: {
        faults: ['hang'],
        seconds: [0.3, 2],
        rates: [300],
        starts: ['started'],
        clients: ['Holdfast', 'ky, 4 retries'],
      },
    })
  })

  it.each([
    ['--only storm', 'There is no experiment "storm".'],
    ['--fault tired', 'There is no fault "tired".'],
    ['--client curl', 'There is no client "curl".'],
    ['--seconds 0', '--seconds takes numbers above 0; "0" is none.'],
    ['--rate many', '--rate takes numbers above 0; "many" is none.'],
    ['--runs 1.5', '--runs takes whole numbers from 1; "1.5" is none.'],
    ['--faults 503', "Unknown option '--faults'"],
  ])('%s is refused with a sentence', (line, sentence) => {
    expect(() => options(line)).toThrow(sentence)
  })

  it('ask for help', () => {
    expect(options('--help')).toBe('help')
    expect(HELP).toContain('--seconds ')
  })
})

import { answerCases, requestCases } from '../all-cases.ts'
import { browserOnly } from '../cases/browser-only.ts'
import { casesIn } from './parity-case.ts'
import type { Places } from './parity-servers.ts'
import { type Run, runCase, type Turn, type World } from './run-case.ts'

export const casesInPage = casesIn('browser', [...requestCases, ...answerCases, ...browserOnly])

/** Runs a case, known by its place in the list, in the page that this script is in. */
export function runnerInPage(places: Places, library: World['library']): (index: number, turn: Turn) => Promise<Run> {
  const platform = globalThis.fetch
  // At the other origin: a browser has few connections to one.
  const control: World['control'] = async (ticket, what) => {
    const response = await platform(`${places.away}/control/${ticket}/${what}`)
    return response.json()
  }
  return (index, turn) => {
    const parityCase = casesInPage[index]
    if (!parityCase) throw new RangeError(`There is no case ${index}`)
    return runCase(parityCase, turn, { places, library, platform, control })
  }
}

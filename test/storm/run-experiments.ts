import type { Experiment, StormOptions } from './arguments.ts'
import { BACKLOG_SHARES, backlogRow } from './experiments/backlog.ts'
import { blipLoadPolicies, blipLoadRow, blipLoadTroubles } from './experiments/blip-load.ts'
import { blipPolicies, blipRow } from './experiments/blips.ts'
import { contentionRow, WAYS_OF_WAITING } from './experiments/contention.ts'
import { delaySamples, delaysRows, JITTERS } from './experiments/delays.ts'
import { LAYERS_MODES, layersRow } from './experiments/layers.ts'
import { loadPolicies, loadRow } from './experiments/load.ts'
import { FLEETS, sharedBudgetRow } from './experiments/shared-budget.ts'
import { situationGroups } from './experiments/situation-groups.ts'
import { situationRows } from './experiments/situation-rows.ts'
import { allTroubles } from './experiments/troubles.ts'
import type { Results } from './report.ts'

/** Told before each piece of work. */
export type Progress = (line: string) => void

type Runs = { readonly [Name in Experiment]: (options: StormOptions, tell: Progress) => Partial<Results> }

/** Which of the last ones meets a failure decides much in a single run. */
const BACKLOG = { operations: 1000, runs: 30 }
/** A fleet of services. */
const LOAD_CLIENTS = 1000
const LAYERS = [1, 2, 3, 4]
const CONTENDERS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
const DRAWS = 20_000
const SHARED_BUDGET_RUNS = 5

const RUNS: Runs = {
  situations: ({ clients, situations, seed }, tell) => ({
    situations: situationGroups(clients)
      .filter(({ name }) => situations.includes(name))
      .flatMap((group) =>
        group.situations.flatMap((situation) => {
          const at = (policy: string): void => tell(`${group.name}, ${situation.name}: ${policy}`)
          return situationRows(group, situation, { seed, tell: at })
        }),
      ),
  }),
  blips: ({ seed }, tell) => ({
    blips: allTroubles().flatMap((trouble) => {
      tell(`${trouble.group}, ${trouble.name}`)
      return blipPolicies().map((policy) => blipRow(trouble, policy, { seed }))
    }),
    blipLoad: blipLoadTroubles().flatMap((trouble) => {
      tell(`load of a blip, ${trouble.name}`)
      return blipLoadPolicies().map((policy) => blipLoadRow(trouble, policy, { seed }))
    }),
  }),
  backlog: ({ seed }) => ({ backlog: BACKLOG_SHARES.map((failing) => backlogRow(failing, { ...BACKLOG, seed })) }),
  load: ({ seed }, tell) => ({
    load: loadPolicies().map((policy) => {
      tell(`load: ${policy.name}`)
      return loadRow(policy, { clients: LOAD_CLIENTS, seed })
    }),
  }),
  jitter: ({ seed }) => ({
    jitter: JITTERS.flatMap((jitter) => delaysRows(delaySamples(jitter, { draws: DRAWS, seed }))),
  }),
  layers: () => ({ layers: LAYERS_MODES.flatMap((mode) => LAYERS.map((layers) => layersRow(mode, layers))) }),
  contention: ({ seed }, tell) => ({
    contention: WAYS_OF_WAITING.flatMap((waiting) => {
      tell(`contention: ${waiting}`)
      return CONTENDERS.map((clients) => contentionRow(waiting, { clients, runs: 100, seed }))
    }),
  }),
  'shared-budget': ({ seed }, tell) => ({
    sharedBudget: FLEETS.map((fleet) => {
      tell(`shared budget: ${fleet.processes} processes, ${fleet.operationsPerSecond} per second: ${fleet.sharing}`)
      return sharedBudgetRow(fleet, { runs: SHARED_BUDGET_RUNS, seed })
    }),
  }),
}

export function runExperiments(options: StormOptions, tell: Progress): Results {
  const results: Results = { seed: options.seed }
  for (const name of options.only) {
    tell(name)
    Object.assign(results, RUNS[name](options, tell))
  }
  return results
}

import type { BlipRow } from './blip-row.ts'
import { BlipStage } from './blip-stage.ts'
import { type BlipChoice, type BlipTrial, blipName, blipTrials, type ClientName } from './blip-trial.ts'

type Tell = (line: string) => void

/** In the order of the trials. Several clients run at the same time, each at a server of its own: most of a trial is waiting. */
export async function runBlips({ atOnce, ...choice }: BlipChoice, tell: Tell): Promise<BlipRow[]> {
  const trials = blipTrials(choice)
  const rows: BlipRow[] = []
  for (let from = 0; from < choice.clients.length; from += atOnce) {
    rows.push(...(await runTogether(choice.clients.slice(from, from + atOnce), trials, tell)))
  }
  return trials.flatMap((trial) => rows.filter((row) => row.fault === trial.fault && blipName(row) === blipName(trial)))
}

async function runTogether(
  clients: readonly ClientName[],
  trials: readonly BlipTrial[],
  tell: Tell,
): Promise<BlipRow[]> {
  const stages = await Promise.all(clients.map((name) => BlipStage.start(name)))
  const rows: BlipRow[] = []
  try {
    for (const trial of trials) {
      tell(`${clients.join(' and ')}: ${trial.fault}, ${blipName(trial)}`)
      rows.push(...(await Promise.all(stages.map((stage) => stage.run(trial)))))
    }
  } finally {
    await Promise.all(stages.map((stage) => stage.end()))
  }
  return rows
}

import { delaySamples, JITTERS } from '../experiments/delays.ts'
import { SHOWN_OVER_TIME } from '../experiments/fleet-policies.ts'
import type { FleetRow } from '../experiments/fleet-row.ts'
import type { Results } from '../report.ts'
import { HURRIED_MS } from '../scenario.ts'
import { contentionPicture } from './contention-picture.ts'
import { delaysPicture } from './delays-picture.ts'
import type { Picture } from './draw.ts'
import { layersPicture } from './layers-picture.ts'
import { loadPicture } from './load-picture.ts'
import { spreadPicture } from './spread-picture.ts'

const DRAWS = 20_000

/** One picture for each experiment that was run. */
export function picturesOf(results: Results): Picture[] {
  const { seed, jitter, fleet, spread, layers, contention } = results
  const pictures: Picture[] = []
  if (jitter) pictures.push(delaysPicture(JITTERS.map((name) => delaySamples(name, { draws: DRAWS, seed }))))
  const shown = shownOverTime(fleet ?? [])
  if (shown.length > 0) pictures.push(loadPicture(shown))
  if (spread) pictures.push(spreadPicture(spread))
  if (layers) pictures.push(layersPicture(layers))
  if (contention) pictures.push(contentionPicture(contention))
  return pictures
}

/** A fleet of services if there is one, else the first that was run. */
function shownOverTime(rows: readonly FleetRow[]): FleetRow[] {
  const queueing = rows.filter(
    ({ server, kind, attemptTimeoutMs }) => server === 'queues' && kind === 'down' && attemptTimeoutMs === HURRIED_MS,
  )
  const clients = queueing.some((row) => row.clients === 1000) ? 1000 : queueing[0]?.clients
  return SHOWN_OVER_TIME.flatMap((name) => queueing.filter((row) => row.policy === name && row.clients === clients))
}

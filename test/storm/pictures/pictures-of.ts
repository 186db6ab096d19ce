import { delaySamples, JITTERS } from '../experiments/delays.ts'
import type { Results } from '../report.ts'
import { grouped } from '../table.ts'
import { blipLoadPicture } from './blip-load-picture.ts'
import { blipsPicture } from './blips-picture.ts'
import { contentionPicture } from './contention-picture.ts'
import { delaysPicture } from './delays-picture.ts'
import type { Picture } from './draw.ts'
import { layersPicture } from './layers-picture.ts'
import { loadPicture } from './load-picture.ts'
import { situationsPicture } from './situations-picture.ts'

const DRAWS = 20_000

/** One picture for each experiment that was run, and for each group of situations. */
export function picturesOf(results: Results): Picture[] {
  const { seed, situations, blips, blipLoad, load, jitter, layers, contention } = results
  const pictures = [...grouped(situations ?? [], ({ group }) => group).values()].map(situationsPicture)
  const ofBlips = blipsPicture(blips ?? [])
  if (ofBlips) pictures.push(ofBlips)
  if (blipLoad) pictures.push(blipLoadPicture(blipLoad))
  if (load) pictures.push(loadPicture(load))
  if (jitter) pictures.push(delaysPicture(JITTERS.map((name) => delaySamples(name, { draws: DRAWS, seed }))))
  if (layers) pictures.push(layersPicture(layers))
  if (contention) pictures.push(contentionPicture(contention))
  return pictures
}

import type { BlipRow } from '../experiments/blips.ts'
import { frontOf } from '../experiments/front.ts'
import type { Picture } from './draw.ts'
import { type PictureRow, situationsPicture } from './situations-picture.ts'

/** By group and trouble: a panel each. */
const SHOWN: readonly (readonly [group: string, trouble: string])[] = [
  ['Blip: 503', '0.3 s, 100/s'],
  ['Blip: 503', '1 s, 100/s'],
  ['Blip: 503', '3 s, 100/s'],
  ['Blip: hang', '1 s, 100/s'],
  ['Blip: 503', '1 s, 10/s, just started'],
  ['Blip: 503', '1 s, 1,000 x 1/s'],
]

/** Success against requests of the calls begun in a blip. Undefined: none of these was run. */
export function blipsPicture(rows: readonly BlipRow[]): Picture | undefined {
  const panels = SHOWN.map(([group, trouble]) => rows.filter((row) => row.group === group && row.trouble === trouble))
  const shown = panels.flatMap(panelRows)
  return shown.length === 0 ? undefined : situationsPicture(shown)
}

function panelRows(rows: readonly BlipRow[]): PictureRow[] {
  const points = rows.map(({ group, trouble, policy, requests, successIn }) => ({
    group: 'blips',
    title: 'Calls that begin while the server is away for a moment',
    situation: `${group.replace('Blip: ', '')} for ${trouble}`,
    policy,
    role: policy === 'Holdfast' ? ('default' as const) : ('peer' as const),
    requests,
    success: successIn,
    isBetter: false,
  }))
  const front = new Set(frontOf(points))
  return points.map((point) => ({ ...point, isOnFront: front.has(point) }))
}

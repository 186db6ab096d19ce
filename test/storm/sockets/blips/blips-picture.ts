import { frontOf } from '../../experiments/front.ts'
import type { Picture } from '../../pictures/draw.ts'
import { type PictureRow, situationsPicture } from '../../pictures/situations-picture.ts'
import { grouped } from '../../table.ts'
import type { BlipRow } from './blip-row.ts'

const SHOWN = { lastsMs: 1000, perSecond: 100, start: 'warm' }

/** Success against attempts for a blip of a second, a panel for each fault. Undefined: such a blip was not run. */
export function blipsPicture(rows: readonly BlipRow[]): Picture | undefined {
  const shown = rows.filter(
    ({ lastsMs, perSecond, start }) =>
      lastsMs === SHOWN.lastsMs && perSecond === SHOWN.perSecond && start === SHOWN.start,
  )
  const panels = [...grouped(shown, ({ fault }) => fault).values()]
  return shown.length === 0 ? undefined : situationsPicture(panels.flatMap(pictureRows))
}

function pictureRows(rows: readonly BlipRow[]): PictureRow[] {
  const points = rows.map(({ fault, client, attemptsIn, successIn }) => ({
    group: 'blips-over-sockets',
    title: 'A blip of one second, 100 calls per second, over sockets',
    situation: fault,
    policy: client,
    role: client === 'Holdfast' ? ('default' as const) : ('peer' as const),
    requests: attemptsIn,
    success: successIn,
    isBetter: false,
  }))
  const front = new Set(frontOf(points))
  return points.map((point) => ({ ...point, isOnFront: front.has(point) }))
}

import { picocolors as pc } from '../libraries.ts'
import type { Terminal } from '../terminal.ts'

export type Colours = ReturnType<typeof pc.createColors>

export function coloursOf({ hasColour }: Pick<Terminal, 'hasColour'>): Colours {
  return pc.createColors(hasColour)
}

type Paint = (text: string) => string

/** The colour of a status, a state or a verdict: what needs a person stands out. */
export function paintOf(colours: Colours, word: string): Paint {
  if (['succeeded', 'done', 'ok', 'pass'].includes(word)) return colours.green
  if (['failed', 'rejected', 'expired', 'unknown', 'problem', 'fail'].includes(word)) return colours.red
  if (['warning', 'unclear', 'cancelled', 'parked'].includes(word)) return colours.yellow
  return colours.cyan
}

import type { HuntResult } from './hunt.ts'

export function isClean({ lost, doubled, untold, wrongAnswers, unfinished, crashes }: HuntResult): boolean {
  return lost + doubled + untold + wrongAnswers + unfinished + crashes === 0
}

import type { HuntResult } from './hunt.ts'

export function isClean(result: HuntResult): boolean {
  const { lost, doubled, untold, wrongAnswers, unfinished, crashes, falseClaims } = result
  return lost + doubled + untold + wrongAnswers + unfinished + crashes + falseClaims === 0
}

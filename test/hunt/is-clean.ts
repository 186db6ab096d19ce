import type { HuntVerdict } from './hunt-judge.ts'

export function isClean({ lost, doubled, untold, wrongAnswers, unfinished }: HuntVerdict): boolean {
  return lost + doubled + untold + wrongAnswers + unfinished === 0
}

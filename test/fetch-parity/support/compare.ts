import type { ExpectStatic } from 'vitest'
import { type Difference, differences } from '../differences.ts'
import { MODES, type Mode } from './modes.ts'
import { differenceIn, type ParityCase } from './parity-case.ts'
import type { Run, Subject } from './run-case.ts'

export interface Comparison {
  readonly platform: 'node' | 'browser'
  /** Of the test: several may run at a time. */
  readonly expect: ExpectStatic
  readonly run: (subject: Subject) => Promise<Run>
}

/** Runs a case with the platform's fetch and with `client.fetch` in each mode, and expects to see the same. */
export async function compare(parityCase: ParityCase, { platform, expect, run }: Comparison): Promise<void> {
  const name = differenceIn(platform, parityCase)
  const difference: Difference | undefined = name && differences[name]
  const plain = await run('platform')
  expect(plain.sight, "the platform's fetch").toMatchObject(parityCase.shows)
  for (const mode of modesIn(platform, parityCase)) {
    const like = mode === 'keyed' ? await run('platform-keyed') : plain
    // Without a key there would be nothing that the other modes do not show.
    if (mode === 'keyed' && like.keys === 0) continue
    const ours = await run(mode)
    if (difference?.modes.includes(mode)) {
      const { because, shows } = difference
      if (shows) expect.soft(ours.sight, `${mode}: ${because}`).toEqual(shows(like.sight as never))
      expect.soft(ours.sight, `${mode}: the difference has gone`).not.toEqual(like.sight)
    } else expect.soft(ours.sight, mode).toEqual(like.sight)
  }
}

/** All modes, or where each case would only say the same again, a sample: in a browser everything takes longer. */
function modesIn(platform: Comparison['platform'], { name }: ParityCase): readonly Mode[] {
  return MODES.filter((mode) => {
    if (mode === 'installed') return name.length % 5 === 0
    return mode !== 'pass-through' || platform === 'node' || name.length % 3 === 0
  })
}

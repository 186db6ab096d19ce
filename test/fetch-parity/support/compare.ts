import { expect } from 'vitest'
import { type Difference, differences } from '../differences.ts'
import { MODES } from './modes.ts'
import type { ParityCase } from './parity-case.ts'
import type { Run, Subject } from './run-case.ts'

/** Runs a case with the platform's fetch and with `client.fetch` in each mode, and expects to see the same. */
export async function compare(parityCase: ParityCase, run: (subject: Subject) => Promise<Run>): Promise<void> {
  const difference: Difference | undefined = parityCase.difference && differences[parityCase.difference]
  const platform = await run('platform')
  expect(platform.sight, "the platform's fetch").toMatchObject(parityCase.shows)
  for (const mode of MODES) {
    const like = mode === 'keyed' ? await run('platform-keyed') : platform
    // Without a key there would be nothing that the other modes do not show.
    if (mode === 'keyed' && like.keys === 0) continue
    const ours = await run(mode)
    if (difference?.modes.includes(mode)) {
      expect.soft(ours.sight, `${mode}: ${difference.because}`).toEqual(difference.shows(like.sight as never))
      expect.soft(ours.sight, `${mode}: the difference has gone`).not.toEqual(like.sight)
    } else expect.soft(ours.sight, mode).toEqual(like.sight)
  }
}

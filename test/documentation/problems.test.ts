import { describe, expect, it } from 'vitest'
import type { CallOptions, HoldfastError } from '../../src/index.ts'
import { type RefusalReason, refusal } from '../../src/server/admission/refusal.ts'
import type { ScriptedStep } from '../../src/testing/scripted-fetch.ts'
import { elapse, failure, scenario } from '../support/client-scenario.ts'
import { problemSection } from './support/problem-section.ts'

/* What docs/reference/problems.md says under "What ours does": the client meets the ledger's own refusals. */

interface Case {
  readonly sees: Partial<HoldfastError> & { readonly name: string }
  readonly requests: number
  readonly call?: CallOptions
  /** Before the refusals. */
  readonly first?: ScriptedStep
}

const REFUSED: Case = {
  sees: { name: 'RejectedError', effect: 'none', reason: 'status', pending: false },
  requests: 1,
}

const UNDECIDED: Case = {
  sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'attempts', pending: false },
  requests: 5,
}

const cases: readonly (readonly [RefusalReason, string, Case])[] = [
  ['key-missing', 'without a key', { ...REFUSED, call: { durable: false } }],
  ['key-malformed', 'whose key was mangled', REFUSED],
  ['key-reused', 'whose key is taken', { ...REFUSED, sees: { name: 'KeyReuseError', effect: 'none' } }],
  ['in-flight', 'that is being worked on', UNDECIDED],
  [
    'outcome-unknown',
    'that was cut off',
    { sees: { name: 'IndeterminateError', effect: 'unknown', reason: 'deadline' }, requests: 1 },
  ],
  ['window-passed', 'that comes too late', REFUSED],
  [
    'window-passed',
    'that comes too late, and may have arrived before',
    { ...REFUSED, first: { fault: 'reset' }, sees: { name: 'RejectedError', effect: 'unknown' }, requests: 2 },
  ],
  [
    'quota-exceeded',
    'of a caller with too many keys',
    { sees: { name: 'RejectedError', effect: 'none', reason: 'deadline' }, requests: 1 },
  ],
  ['unavailable', 'that cannot be recorded', UNDECIDED],
  ['body-too-large', 'with a large body', REFUSED],
]

function stepOf(reason: RefusalReason): ScriptedStep {
  const { status, headers, body } = refusal(reason)
  return { status, headers: Object.fromEntries(headers), body: new TextDecoder().decode(body), repeat: true }
}

describe('our client, answered with', () => {
  it.each(cases)('%s for an operation %s, does what its page says', async (reason, _what, told) => {
    const steps = [...(told.first ? [told.first] : []), stepOf(reason)]
    const { client, clock, fetch } = scenario(steps)
    const startedAt = clock.now()
    const call = client.post('/charges', { json: { amount: 5000 }, ...told.call })
    const error = await elapse(clock, 60_000, failure(call))
    expect(error).toMatchObject(told.sees)
    expect(fetch.calls).toHaveLength(told.requests)
    if (refusal(reason).headers.some(([, value]) => value === '60'))
      expect(error.retryAt).toBeGreaterThanOrEqual(startedAt + 60_000)
    const [, ours = ''] = problemSection(reason).split('**What ours does:**')
    expect(ours).toContain(`\`${told.sees.name}\``)
    expect(ours).toContain(`\`${told.sees.effect}\``)
  })
})

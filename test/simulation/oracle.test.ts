import { describe, expect, it } from 'vitest'
import type { RowChange } from '../../src/client/journal/port.ts'
import { IndeterminateError, KeyReuseError } from '../../src/errors/classes.ts'
import type { Commit } from '../../src/testing/command-meaning.ts'
import { Coverage } from '../../src/testing/simulation/coverage.ts'
import { drawPlan } from '../../src/testing/simulation/draw-plan.ts'
import { judgeBlips } from '../../src/testing/simulation/oracle/blip-rule.ts'
import type { CallFact } from '../../src/testing/simulation/oracle/facts.ts'
import { judgeEnd } from '../../src/testing/simulation/oracle/final-rules.ts'
import { Oracle } from '../../src/testing/simulation/oracle/oracle.ts'
import type { Shadow } from '../../src/testing/simulation/oracle/shadow.ts'
import { SuccessAccount } from '../../src/testing/simulation/oracle/success-account.ts'
import type { CallPlan, Plan, Trouble } from '../../src/testing/simulation/plan.ts'
import type { SimulatedProcess } from '../../src/testing/simulation/simulated-process.ts'
import type { Sent } from '../../src/testing/simulation/wire.ts'

const KEY = 'a-key'
const PLAN: Plan = { ...drawPlan(1), server: 'honours-keys', faults: new Set(), isQuiet: false, calls: [] }
const CALL = { label: 'op0', origin: 'http://api.test', deadlineMs: 10_000 } as CallPlan

function processOf(name: string): SimulatedProcess {
  return { name, owner: name, alive: true, elapsedMs: 0, clock: { now: () => 0 } } as unknown as SimulatedProcess
}

/** A request, what it was answered with by when, and when it was done. */
interface Told {
  readonly answer?: { readonly status: number; readonly problem?: boolean; readonly at: number }
  readonly doneAt?: number
}

/** The history of a call that says at 100 ms that nothing was done, since its key stands for another request. */
function judgeRefusal(requests: readonly Told[]): readonly string[] {
  let now = 0
  const oracle = new Oracle({ plan: PLAN, coverage: new Coverage(), now: () => now, runDeadlineMs: 30_000 })
  const process = processOf('A1')
  const call = oracle.called(process, CALL)
  const sents = requests.map((_, n): Sent => {
    const wire = { method: 'POST', url: 'http://api.test/op0', headers: [], body: null, user: undefined }
    return { ...wire, number: n + 1, key: KEY, label: 'op0' }
  })
  for (const sent of sents) oracle.sents.push({ sent, process, at: 1, outcome: undefined, endedAt: undefined })
  requests.forEach(({ answer }, n) => {
    if (!answer) return
    now = answer.at
    const headers = answer.problem === false ? [] : [['content-type', 'application/problem+json'] as const]
    const response = { kind: 'response', status: answer.status, headers } as never
    oracle.exchangeEnded(process, sents[n] as Sent, response)
  })
  now = 100
  const attempts = [{ number: 1, startedAt: 1, durationMs: 1, status: 422 }]
  const error = new KeyReuseError('refused', { effect: 'none', operation: { key: KEY }, attempts })
  oracle.callEnded(call, { is: 'error', at: now, error })
  const effects = requests.flatMap(({ doneAt }, n) =>
    doneAt === undefined ? [] : [{ key: KEY, label: 'op0', sent: n + 1, at: doneAt }],
  )
  judgeEnd(oracle, PLAN, effects)
  return oracle.broken.map(({ sentence }) => sentence)
}

describe('that a key stands for another request', () => {
  const REFUSED = { status: 422, at: 50 }

  it('says nothing of a copy that is done when the other request has lost its entry', () => {
    expect(judgeRefusal([{ answer: REFUSED, doneAt: 34_000 }])).toEqual([])
  })

  it.each<[string, readonly Told[]]>([
    ['an earlier attempt that has no answer', [{ doneAt: 34_000 }, { answer: REFUSED }]],
    ['a request that was done before its refusal', [{ answer: REFUSED, doneAt: 40 }]],
    ['a request that was refused as overloaded', [{ answer: { status: 429, at: 50 }, doneAt: 34_000 }]],
    ['a request that a handler has refused', [{ answer: { ...REFUSED, problem: false }, doneAt: 34_000 }]],
    ['a request whose refusal comes after the report', [{ answer: { ...REFUSED, at: 40_000 }, doneAt: 34_000 }]],
  ])('does not clear %s', (_, requests) => {
    expect(judgeRefusal(requests)).toEqual(['op0 got effect none (KeyReuseError, key-reuse), and had been done'])
  })
})

describe('a call that fails by its deadline after a blip of its API', () => {
  /** Half a minute, of which the API answered nothing for two seconds. */
  function judge(kind: 'hangs' | 'errors', through: CallPlan['through']) {
    const plan = { ...CALL, through, deadlineMs: 30_000 }
    const blip: Trouble = { fault: 'api-blips', origin: plan.origin, kind, from: 0, until: 2000 }
    const error = new IndeterminateError('too late', { effect: 'unknown', reason: 'deadline', operation: { key: KEY } })
    const result = { is: 'error', at: 3000, error } as const
    const fact: CallFact = { plan, process: processOf('A1'), at: 0, elapsedAt: 0, accepted: true, result }
    return judgeBlips(fact, { ...PLAN, isQuiet: true, options: {}, troubles: [blip] })
  }

  it('has failed because of the blip, but for a fetch that no attempt timeout ends', () => {
    expect(judge('hangs', 'verb')).toEqual(['P6', expect.stringMatching(/because of a blip of 2000 ms/)])
    expect(judge('errors', 'fetch')).toBeDefined()
    expect(judge('hangs', 'fetch')).toBeUndefined()
  })
})

describe('a success that its program was told, and that is sent again', () => {
  const [mine, theirs] = [processOf('A1'), processOf('B1')]
  const SENT = { number: 2, label: 'op0' }
  const IGNORES: Plan = { ...PLAN, server: 'ignores-keys', faults: new Set(['connection-silent', 'store-blinks']) }
  const body = new TextEncoder().encode('{"operation":"op0"}')
  const change = { status: 'succeeded', head: '{}' } as RowChange
  const write: Commit = { do: 'write', namespace: 'default', key: KEY, owner: 'A1', epoch: 1, change }

  function judge(unwrittenIn: SimulatedProcess | undefined, status: 'pending' | 'succeeded', plan = IGNORES) {
    const account = new SuccessAccount()
    const fact: CallFact = { plan: CALL, process: mine, at: 0, elapsedAt: 0, accepted: true, result: undefined }
    if (unwrittenIn) account.notWritten(unwrittenIn, write)
    account.told(fact, { is: 'response', at: 100 }, [{ key: KEY, status, body } as Shadow])
    return account.leaves(SENT, plan)
  }

  it('was told too early, whatever else the disk has failed', () => {
    expect(judge(undefined, 'pending')).toEqual(['P3', expect.stringMatching(/sends op0 again/)])
    expect(judge(theirs, 'pending')).toBeDefined()
    expect(judge(mine, 'succeeded')).toBeDefined()
  })

  it('is excused if that very write was not done, or by a server that honours the key', () => {
    expect(judge(mine, 'pending')).toBeUndefined()
    expect(judge(undefined, 'pending', PLAN)).toBeUndefined()
  })
})

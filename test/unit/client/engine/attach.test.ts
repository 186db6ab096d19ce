import { describe, expect, it } from 'vitest'
import { attach } from '../../../../src/client/engine/call/attach.ts'
import { LiveOperation } from '../../../../src/client/engine/run/live-operation.ts'
import { SharedTimers } from '../../../../src/foundation/shared-timers.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'
import { freshRecord } from '../../../support/shared-record.ts'

const ANSWER = { status: 201, statusText: '', headers: [], body: null, bodyOmitted: false, url: '', redirected: false }

describe('a caller whose operation settles at the moment at which it would leave', () => {
  it('gives the journal its time: the process may have stood still', async () => {
    const clock = manualClock()
    const operation = new LiveOperation(freshRecord())
    const left: unknown[] = []
    void attach({ clock, sharedTimers: new SharedTimers(clock) }, operation, { leaveInMs: 1000 }).then((finish) =>
      left.push(finish.is),
    )
    await clock.advance(999)
    operation.record = { ...operation.record, status: 'succeeded', settledAt: clock.now(), response: ANSWER }
    await clock.advance(4900)
    expect(left).toEqual([])
    await clock.advance(200)
    expect(left).toEqual(['settled'])
  })
})

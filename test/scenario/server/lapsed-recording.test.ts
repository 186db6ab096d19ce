import { describe, expect, it } from 'vitest'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { ask } from '../../support/protected-shop.ts'

/** A store whose `complete` and `renew` get no answer. */
function silentLedger(lease: '3s' | '60s') {
  const clock = manualClock()
  const store = memoryLedger()
  const never = (): Promise<never> => new Promise(() => {})
  const silent = new Proxy(store, {
    get: (target, name) => {
      if (name === 'complete' || name === 'renew') return never
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const ledger = createLedger({ store: silent, scope: 'public', clock, lease, storeTimeout: '5s' })
  return { clock, ledger }
}

describe('an answer that the store did not take in time', () => {
  it('is sent while the lease lasts', async () => {
    const { clock, ledger } = silentLedger('60s')
    const answered = ledger.protect(() => json({}, { status: 201 }))(ask('k'))
    await clock.advance(6000)
    expect((await answered).status).toBe(201)
  })

  it('is not sent as a success once the lease has lapsed: another replica may have done it too', async () => {
    const { clock, ledger } = silentLedger('3s')
    const answered = ledger.protect(() => json({}, { status: 201 }))(ask('k'))
    await clock.advance(6000)
    expect((await answered).status).toBe(503)
  })
})

describe('a clock that is set back', () => {
  it('does not make a lease longer', async () => {
    const { clock, ledger } = silentLedger('3s')
    let setBackMs = 0
    const { now } = clock
    Object.assign(clock, { elapsed: now.bind(clock), now: () => now.call(clock) - setBackMs })
    let signal: AbortSignal | undefined
    void ledger.protect((_, context) => {
      signal = context.signal
      return new Promise<Response>(() => {})
    })(ask('k'))
    await clock.advance(10)
    setBackMs = 3_600_000
    await clock.advance(3500)
    expect(signal?.aborted).toBe(true)
  })
})

describe('a store whose answer to a claim comes late', () => {
  it('has the handler aborted when the lease ends that began with the question', async () => {
    const clock = manualClock()
    const store = memoryLedger()
    const insert = store.insert.bind(store)
    const slow = Object.assign(store, {
      insert: async (...claim: Parameters<typeof insert>) => {
        await clock.sleep(2500)
        return insert(...claim)
      },
    })
    const ledger = createLedger({ store: slow, scope: 'public', clock, lease: '3s' })
    let signal: AbortSignal | undefined
    void ledger.protect((_, context) => {
      signal = context.signal
      return new Promise<Response>(() => {})
    })(ask('k'))
    await clock.advance(2600)
    expect(signal?.aborted).toBe(false)
    await clock.advance(500)
    expect(signal?.aborted).toBe(true)
  })

  it('begins no handler if the process stood still until the lease was over', async () => {
    const clock = manualClock()
    const store = memoryLedger()
    const insert = store.insert.bind(store)
    let stoodStillMs = 0
    const { now } = clock
    Object.assign(clock, { now: () => now.call(clock) + stoodStillMs })
    const frozen = Object.assign(store, {
      insert: async (...claim: Parameters<typeof insert>) => {
        const inserted = await insert(...claim)
        stoodStillMs = 14_000
        return inserted
      },
    })
    const ledger = createLedger({ store: frozen, scope: 'public', clock, lease: '12s' })
    let runs = 0
    const answer = await ledger.protect(() => {
      runs++
      return json({})
    })(ask('k'))
    expect([answer.status, runs]).toEqual([503, 0])
    await clock.advance(10)
    expect(await store.find('public', 'k')).toBeUndefined()
  })

  it('does so also if its effect begins meanwhile, under a shorter lease', async () => {
    const clock = manualClock()
    const store = memoryLedger()
    const insert = store.insert.bind(store)
    const slow = Object.assign(store, {
      insert: async (...claim: Parameters<typeof insert>) => {
        await clock.sleep(4900)
        return insert(...claim)
      },
      renew: () => Promise.reject(new Error('The store is away')),
    })
    const ledger = createLedger({ store: slow, scope: 'public', clock, lease: '12s' })
    let signal: AbortSignal | undefined
    void ledger.protect(async (_, context) => {
      signal = context.signal
      await clock.sleep(3990)
      return context.effect(() => new Promise<never>(() => {}))
    })(ask('k'))
    await clock.advance(11_900)
    expect(signal?.aborted).toBe(false)
    await clock.advance(150)
    expect(signal?.aborted).toBe(true)
  })
})

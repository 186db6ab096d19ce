import { describe, expect, it } from 'vitest'
import { ServerModel, type ServerOptions } from './server-model.ts'

const OPTIONS: ServerOptions = {
  capacityPerSecond: 100,
  longestQueueMs: 50,
  refusalCost: 0.5,
  downFrom: 10_000,
  downUntil: 20_000,
  leftInOutage: 0,
  saysDoNotRetry: false,
}

describe('the server', () => {
  it('serves one after the other, at its rate', () => {
    const server = new ServerModel(OPTIONS)
    expect([0, 0, 5, 100].map((now) => server.arrive(now).at)).toEqual([10, 20, 30, 110])
  })

  it('refuses who would wait too long, and pays for refusing', () => {
    const server = new ServerModel(OPTIONS)
    for (let count = 0; count < 6; count++) expect(server.arrive(0).is).toBe('served')
    expect(server.arrive(0)).toMatchObject({ is: 'refused', at: 0, because: 'overload', doNotRetry: false })
    expect(server.arrive(15)).toMatchObject({ is: 'served', at: 75 })
  })

  it('says do-not-retry when it is overloaded, not when it is down', () => {
    const server = new ServerModel({ ...OPTIONS, saysDoNotRetry: true, longestQueueMs: 0 })
    server.arrive(0)
    expect(server.arrive(0)).toMatchObject({ is: 'refused', because: 'overload', doNotRetry: true })
    expect(server.arrive(10_000)).toMatchObject({ is: 'refused', because: 'down', doNotRetry: false })
  })

  it('is only slower where some of its capacity is left', () => {
    const server = new ServerModel({ ...OPTIONS, leftInOutage: 0.5 })
    expect([10_000, 10_000, 20_000].map((now) => server.arrive(now).at)).toEqual([10_020, 10_040, 20_010])
  })

  it('is down from the first to the last moment of its outage', () => {
    const server = new ServerModel(OPTIONS)
    const answers = [9999, 10_000, 19_999, 20_000].map((now) => server.arrive(now).is)
    expect(answers).toEqual(['served', 'refused', 'refused', 'served'])
  })
})

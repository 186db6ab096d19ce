import { describe, expect, it } from 'vitest'
import { PageConnections, type PerformanceScope } from '../../../../src/client/transport/fetch/page-connections.ts'

const API = 'https://api.test'

interface Timed {
  readonly name: string
  readonly nextHopProtocol?: string
}

type Tell = (list: { getEntries(): readonly Timed[] }) => void

/** A page whose browser tells of what it has loaded. */
class FakePage {
  readonly asked: string[] = []
  #tell: Tell | undefined

  scope(supportedEntryTypes: readonly string[] | undefined): PerformanceScope {
    const page = this
    class Observer {
      static supportedEntryTypes = supportedEntryTypes
      constructor(tell: Tell) {
        page.#tell = tell
      }
      observe({ type, buffered }: PerformanceObserverInit): void {
        page.asked.push(`${type} ${buffered}`)
      }
    }
    return { PerformanceObserver: Observer as unknown as typeof PerformanceObserver }
  }

  loads(...entries: readonly Timed[]): void {
    this.#tell?.({ getEntries: () => entries })
  }
}

function opened(supported: readonly string[] = ['navigation', 'resource']) {
  const page = new FakePage()
  return { page, to: new PageConnections(page.scope(supported)).to }
}

describe('the connections of a page to an origin', () => {
  it('are six, as of HTTP/1.1, until the page knows better', () => {
    expect(opened().to(API)).toBe(6)
  })

  it.each(['h2', 'h3', 'h3-29', 'h2c'])('carry everything once it was seen to speak %s', (nextHopProtocol) => {
    const { page, to } = opened()
    to(API)
    page.loads({ name: `${API}/picture.png?size=2`, nextHopProtocol })
    expect([to(API), to('https://other.test')]).toEqual([Number.POSITIVE_INFINITY, 6])
  })

  it.each(['http/1.1', 'http/1.0', ''])('stay six if all that is seen is %j', (nextHopProtocol) => {
    const { page, to } = opened()
    to(API)
    page.loads({ name: `${API}/one`, nextHopProtocol }, { name: `${API}/two` })
    expect(to(API)).toBe(6)
  })

  it('are six again if the server, or a proxy on the way, changes its mind', () => {
    const { page, to } = opened()
    to(API)
    page.loads({ name: `${API}/one`, nextHopProtocol: 'h2' }, { name: `${API}/two`, nextHopProtocol: 'http/1.1' })
    expect(to(API)).toBe(6)
    page.loads({ name: `${API}/three`, nextHopProtocol: 'h2' }, { name: `${API}/hidden`, nextHopProtocol: '' })
    expect(to(API)).toBe(Number.POSITIVE_INFINITY)
  })

  it('are asked for with the first request, once, and for what was loaded before it', () => {
    const { page, to } = opened()
    expect(page.asked).toEqual([])
    to(API)
    to(API)
    expect(page.asked).toEqual(['navigation true', 'resource true'])
  })

  it('are asked for without the page where there is none, in a worker', () => {
    const { page, to } = opened(['resource'])
    expect([to(API), page.asked]).toEqual([6, ['resource true']])
  })

  it.each([
    ['without the entries', new FakePage().scope(['mark'])],
    ['that does not say which entries it has', new FakePage().scope(undefined)],
    ['without an observer', {}],
  ])('are without a limit in a runtime %s: nobody would ever lift it', (_, scope) => {
    expect(new PageConnections(scope).to(API)).toBe(Number.POSITIVE_INFINITY)
  })
})

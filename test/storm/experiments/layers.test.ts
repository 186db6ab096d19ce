import { describe, expect, it } from 'vitest'
import { layersRow } from './layers.ts'

const of = (mode: Parameters<typeof layersRow>[0]): number[] =>
  [1, 2, 3, 4].map((layers) => layersRow(mode, layers, 6000).amplification)

describe('a chain of layers', () => {
  it('multiplies the attempts of its layers', () => {
    expect(of('each layer retries')).toEqual([3, 9, 27, 81])
  })

  it('costs what one layer costs where do-not-retry is passed on', () => {
    expect(of('do-not-retry passed on')).toEqual([3, 3, 3, 3])
  })

  it('costs a request and the reserve of each layer with a budget in each', () => {
    for (const [index, amplification] of of('budget per layer').entries()) {
      expect(amplification).toBeGreaterThan(1)
      expect(amplification).toBeLessThan(1.0012 ** (index + 1))
    }
  })

  it('sends nearly nothing with breakers as well', () => {
    for (const amplification of of('budget + breaker per layer')) expect(amplification).toBeLessThan(0.01)
  })
})

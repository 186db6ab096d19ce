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

  it('sends nearly nothing with a gate in each layer', () => {
    const [one = 1, ...more] = of('gate per layer')
    // A probe each 0.6 s while a hundred calls per second are refused.
    expect(one).toBeLessThan(0.02)
    for (const amplification of more) expect(amplification).toBeLessThan(0.01)
  })
})

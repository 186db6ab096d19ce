import { describe, expect, it } from 'vitest'
import type { SituationRow } from '../experiments/situation-rows.ts'
import { drawPicture } from './draw.ts'
import { situationsPicture } from './situations-picture.ts'

const row = (policy: string, given: Partial<SituationRow>): SituationRow => ({
  group: 'half',
  title: 'Half of it',
  situation: 'refuses early',
  policy,
  role: 'peer',
  requests: 1,
  success: 0.5,
  isBetter: false,
  isOnFront: false,
  ...given,
})

const ROWS = [
  row('Holdfast', { role: 'default', requests: 1.1, success: 0.8, isOnFront: true }),
  row('Holdfast, keep', { role: 'variant', requests: 1.5, success: 0.9, isOnFront: true }),
  row('what was rejected', { role: 'candidate', requests: 1.3, success: 0.85 }),
  row('gRPC (4 attempts)', { requests: 2, success: 0.6 }),
  row('Holdfast', { role: 'default', situation: 'refuses late', requests: 0.1, success: 0 }),
  row('wretch', { situation: 'refuses late', requests: 11, success: 0 }),
]

describe('the picture of a group of situations', () => {
  const picture = situationsPicture(ROWS)

  it('names the situations and the clients, but none that was rejected', async () => {
    const svg = await drawPicture(picture)
    for (const word of ['refuses early', 'refuses late', 'gRPC', 'wretch', 'Holdfast, keep'])
      expect(svg).toContain(`>${word}<`)
    expect(svg).not.toContain('rejected')
    expect(picture.file).toBe('half.svg')
  })

  it('shows wide ranges on a logarithmic scale', async () => {
    const svg = await drawPicture(picture)
    expect(svg).toContain('>requests per operation<')
    expect(svg).toContain('>requests per operation (log)<')
  })

  it('says in words what is on the front', () => {
    expect(picture.description).toContain(
      'refuses early: Holdfast 1.10 and 80.0 %; on the front: Holdfast; Holdfast, keep.',
    )
  })
})

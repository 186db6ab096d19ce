import { describe, expect, it } from 'vitest'
import { edgeOf, type Named, placeLabels } from './labels.ts'

const PANEL = { width: 400, height: 250, line: [] }
const point = (x: number, y: number, name: string): Named => ({ x, y, name, isAlone: false })

describe('labels', () => {
  it('stand beside their points', () => {
    const [label] = placeLabels([point(100, 100, 'ky')], PANEL)
    expect(label).toMatchObject({ text: 'ky', y: 100, firstLineY: 100, of: { x: 100, y: 100 }, isFar: false })
    expect(label?.x).toBeGreaterThan(100)
  })

  it('are one for points that look like one, unless one of them stands alone', () => {
    const names = (points: readonly Named[]): string[] => placeLabels(points, PANEL).map(({ text }) => text)
    expect(names([point(100, 100, 'ky'), point(103, 100, 'got')])).toEqual(['ky, got'])
    expect(names([{ ...point(100, 100, 'Holdfast'), isAlone: true }, point(103, 100, 'got')])).toEqual([
      'Holdfast',
      'got',
    ])
    expect(names(Array.from({ length: 9 }, () => point(50, 50, 'ten-letter')))).toEqual([
      'ten-letter, ten-letter,\nten-letter, ten-letter,\nten-letter, 4 more',
    ])
  })

  it('keep off each other, off the points and inside the panel', () => {
    const points = Array.from({ length: 12 }, (_, index) => point(150 + 9 * index, 240, `client ${index}`))
    const labels = placeLabels(points, PANEL)
    expect(labels.length).toBeGreaterThan(8)
    const boxes = labels.map(({ text, x, y }) => ({ x, y, width: text.length * 5, height: 10 }))
    for (const [index, one] of boxes.entries()) {
      expect(one.y + one.height / 2).toBeLessThanOrEqual(PANEL.height)
      for (const other of boxes.slice(index + 1)) {
        const apart = Math.abs(one.x - other.x) >= (one.width + other.width) / 2 || Math.abs(one.y - other.y) >= 10
        expect(apart).toBe(true)
      }
    }
    expect(labels.some(({ isFar }) => isFar)).toBe(true)
  })

  it('keep away from the line if they can', () => {
    const line = [
      { x: 100, y: 100 },
      { x: 400, y: 100 },
    ]
    const [label] = placeLabels([point(100, 100, 'ky')], { ...PANEL, line })
    expect(Math.abs((label?.y ?? 100) - 100) > 5 || (label?.x ?? 200) < 100).toBe(true)
  })

  it('are led to where they are far away', () => {
    const edge = edgeOf({ text: 'ky', x: 100, y: 50, firstLineY: 50, of: { x: 100, y: 100 }, isFar: true })
    expect(edge.x).toBe(100)
    expect(edge.y).toBeCloseTo(55.5)
  })

  it('are left out where there is no room', () => {
    expect(
      placeLabels([point(10, 10, 'a name that is wider than the panel')], { width: 60, height: 20, line: [] }),
    ).toEqual([])
  })
})

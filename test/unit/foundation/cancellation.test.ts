import { describe, expect, it } from 'vitest'
import { abortReason, Cancellation, nativeSignal, onAbort } from '../../../src/foundation/abort.ts'

describe('a cancellation', () => {
  it('tells everybody once, with the first reason', () => {
    const cancellation = new Cancellation()
    const told: string[] = []
    onAbort(cancellation, () => told.push('a'))
    onAbort(cancellation, () => told.push('b'))
    cancellation.abort('first')
    cancellation.abort('second')
    expect(told).toEqual(['a', 'b'])
    expect(cancellation.aborted).toBe(true)
    expect(abortReason(cancellation)).toBe('first')
  })

  it('tells at once who comes late, and not who has left', () => {
    const cancellation = new Cancellation()
    const told: string[] = []
    const leave = onAbort(cancellation, () => told.push('left'))
    leave()
    cancellation.abort()
    onAbort(cancellation, () => told.push('late'))
    expect(told).toEqual(['late'])
    expect(abortReason(cancellation)).toMatchObject({ name: 'AbortError' })
  })

  it.each(['before', 'after'])('gives the platform its own signal, asked for %s the abort', (when) => {
    const cancellation = new Cancellation()
    const early = when === 'before' ? nativeSignal(cancellation) : undefined
    cancellation.abort('gone')
    const signal = early ?? nativeSignal(cancellation)
    expect(signal).toBeInstanceOf(AbortSignal)
    expect([signal.aborted, signal.reason]).toEqual([true, 'gone'])
    expect(nativeSignal(cancellation)).toBe(signal)
  })
})

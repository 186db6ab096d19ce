import { describe, expect, test, vi } from 'vitest'
import { abortReason, onAbort } from '../../../src/foundation/abort.ts'

describe('onAbort', () => {
  test('runs when the signal aborts, at once where it has, and never without a signal', () => {
    const listener = vi.fn()
    const controller = new AbortController()
    onAbort(controller.signal, listener)
    onAbort(undefined, listener)()
    expect(listener).toHaveBeenCalledTimes(0)
    controller.abort()
    expect(listener).toHaveBeenCalledTimes(1)
    onAbort(controller.signal, listener)
    expect(listener).toHaveBeenCalledTimes(2)
  })

  test('stops listening when told', () => {
    const listener = vi.fn()
    const controller = new AbortController()
    const stop = onAbort(controller.signal, listener)
    stop()
    controller.abort()
    expect(listener).not.toHaveBeenCalled()
  })
})

test('abortReason gives the own reason of the signal, or an AbortError', () => {
  expect(abortReason(AbortSignal.abort('why'))).toBe('why')
  expect(abortReason({ reason: undefined } as AbortSignal)).toMatchObject({ name: 'AbortError' })
})

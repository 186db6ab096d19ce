import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isNativeFetch } from '../../../../src/client/transport/fetch/native-fetch.ts'
import { globalFetch } from '../../../../src/foundation/own-fetch.ts'
import { scriptedFetch } from '../../../../src/testing/index.ts'

const platform = globalThis.fetch
const { toString: textOf } = Function.prototype
const natives = new WeakMap<object, string>()

beforeEach(() => {
  Function.prototype.toString = function text() {
    return natives.get(this) ?? textOf.call(this)
  }
})
afterEach(() => {
  globalThis.fetch = platform
  Function.prototype.toString = textOf
})

/** A built-in function of the engine, with the name of a page's fetch: its text is what the engine makes of such a one. */
function builtIn(name = 'fetch'): typeof fetch {
  const own = () => Promise.reject(new Error('never called'))
  natives.set(own, textOf.call(Math.max).replace('max', name))
  return Object.defineProperty(own, 'name', { value: name }) as typeof fetch
}

describe("the browser's own fetch", () => {
  test('is known by its text, however the engine breaks its lines', () => {
    const own = builtIn()
    expect(isNativeFetch(own)).toBe(true)
    natives.set(own, 'function fetch() {\n    [native code]\n}')
    expect(isNativeFetch(own)).toBe(true)
  })

  test('is looked for behind the global one, which may be replaced later', () => {
    globalThis.fetch = builtIn()
    expect(isNativeFetch(globalFetch)).toBe(true)
    globalThis.fetch = (input, init) => platform(input, init)
    expect(isNativeFetch(globalFetch)).toBe(false)
  })

  test('is no wrapper, no Proxy, no bound function, and nothing else that the engine has built in', () => {
    const own = builtIn()
    expect(isNativeFetch((input, init) => own(input, init))).toBe(false)
    expect(isNativeFetch(new Proxy(own, {}))).toBe(false)
    expect(isNativeFetch(own.bind(globalThis))).toBe(false)
    expect(isNativeFetch(builtIn('parseInt'))).toBe(false)
    // As JavaScriptCore shows a bound function.
    const bound = builtIn('bound fetch')
    natives.set(bound, 'function fetch() { [native code] }')
    expect(isNativeFetch(bound)).toBe(false)
  })

  test('is believed of scriptedFetch', () => {
    expect(isNativeFetch(scriptedFetch([]))).toBe(true)
  })
})

import { describe, expect, test, vi } from 'vitest'
import { partsOfUrl, urlParts } from '../../../src/foundation/parsed-url.ts'

describe('urlParts', () => {
  test.each([
    'https://api.example/a/b?c=d&e',
    'http://api.example:8080/',
    'HTTPS://API.example:443/caf\u00e9 x?\u20ac#part',
    'http://[::1]:1/?',
    'https://api.example/?a#?b',
    'ftp://files.example/x',
  ])('has the parts of %s as the platform has them, without its fragment', (text) => {
    const url = new URL(text)
    const { origin, protocol, pathname, search } = url
    url.hash = ''
    const parts = { href: url.href, origin, protocol, pathname, search, hasUserInfo: false }
    expect(urlParts(text)).toEqual(parts)
    expect(urlParts(url.href)).toEqual(parts)
  })

  test('throws what the platform throws', () => {
    for (const text of ['', '/path', 'http://[', 'nonsense']) expect(() => urlParts(text)).toThrow(TypeError)
  })

  test('parses a URL once, also where it was parsed already', () => {
    partsOfUrl(new URL('https://once.example/given'))
    urlParts('https://once.example/text')
    vi.stubGlobal('URL', undefined)
    try {
      expect(urlParts('https://once.example/given').pathname).toBe('/given')
      expect(urlParts('https://once.example/text').pathname).toBe('/text')
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test('holds no user info, and no URL for ever', () => {
    const parse = vi.fn()
    const Parser = class extends URL {
      constructor(text: string) {
        super(text)
        parse(text)
      }
    }
    vi.stubGlobal('URL', Parser)
    try {
      for (const _ of [1, 2]) expect(urlParts('https://ann:hunter2@user.example/').hasUserInfo).toBe(true)
      expect(parse).toHaveBeenCalledTimes(2)
      urlParts('https://first.example/')
      for (let index = 0; index < 500; index++) urlParts(`https://many.example/${index}`)
      parse.mockClear()
      urlParts('https://first.example/')
      expect(parse).toHaveBeenCalledTimes(1)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

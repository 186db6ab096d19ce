import { describe, expect, test } from 'vitest'
import { isCredentialField, REDACTOR, redactText, redactUrl } from '../../../src/observe/redact.ts'

describe('redactUrl', () => {
  test.each([
    ['https://api.example.com/charges?page=2', 'https://api.example.com/charges?page=2'],
    ['https://ann:hunter2@api.example.com/x', 'https://api.example.com/x'],
    ['https://hunter2@api.example.com', 'https://api.example.com'],
    ['https://ann:hun@ter2@api.example.com/', 'https://api.example.com/'],
    ['https:ann:hunter2@api.example.com/', 'https:api.example.com/'],
    ['https:\\\\ann:hunter2@api.example.com\\x', 'https:\\\\api.example.com\\x'],
    ['ht\ntps://ann:hunter2@api.example.com/', 'https://api.example.com/'],
    ['postgres://ann:hunter2@db/app', 'postgres://db/app'],
    ['//ann:hunter2@api.example.com/', '//api.example.com/'],
    ['/users/me@example.com', '/users/me@example.com'],
    ['https://a.example/?token=hunter2&page=2', 'https://a.example/?token=***&page=2'],
    ['https://a.example/?page=2&api%5Fkey=hunter2', 'https://a.example/?page=2&api%5Fkey=***'],
    ['https://a.example/?X-Amz-Signature=hunter2#frag', 'https://a.example/?X-Amz-Signature=***#frag'],
    ['https://a.example/cb#access_token=hunter2&state=1', 'https://a.example/cb#access_token=***&state=1'],
    ['https://a.example/?token=hunter2=hunter2', 'https://a.example/?token=***'],
    ['https://a.example/?a=1;token=hunter2', 'https://a.example/?a=1;token=***'],
    ['https://a.example/?%E0%A4%A=1&token=hunter2', 'https://a.example/?%E0%A4%A=1&token=***'],
    ['https://a.example/?next=eyJhbGciOiJIUzI1NiJ9.hunter2.c2ln', 'https://a.example/?next=***'],
    ['/relative?secret=hunter2', '/relative?secret=***'],
    ['https://a.example/?idempotency_key=k1', 'https://a.example/?idempotency_key=k1'],
    ['not a url', 'not a url'],
    ['', ''],
  ])('%j becomes %j', (url, expected) => {
    expect(redactUrl(url)).toBe(expected)
  })
})

describe('redactText', () => {
  test.each([
    'sent Bearer hunter2',
    'sent bearer hunter2.abc-def~+/==',
    'Authorization: Bearer hunter2',
    'authorization=Basic aHVudGVyMg==hunter2',
    '{"authorization":"hunter2"}',
    "headers { 'x-api-key': 'hunter2' }",
    'x-api-key: hunter2, accept: */*',
    'password=hunter2',
    'could not reach https://ann:hunter2@api.example.com/x',
    'GET https://a.example/?token=hunter2 failed',
    'proxy-authorization: Digest hunter2',
    'DPoP hunter2',
    'cookie: sid=hunter2',
    'set-cookie: hunter2; Path=/',
    'Bearer token: hunter2',
    'authorization: Token hunter2',
    'cookie: theme=dark; sid=hunter2; other=hunter2',
    '{"cookie":"theme=dark; sid=hunter2"}',
    'Authorization: Digest username="ann", response="hunter2"',
    '0: x-api-key=hunter2',
    'config: {x-app-key: hunter2}',
  ])('%j loses its credential', (text) => {
    expect(redactText(text)).not.toContain('hunter2')
  })

  test.each([
    ['{"authorization":"hunter2","accept":"*/*"}', '{"authorization":"***","accept":"*/*"}'],
    ['x-api-key: hunter2, accept: */*', 'x-api-key: ***, accept: */*'],
    ['sent Bearer hunter2 twice', 'sent Bearer *** twice'],
    ['cookie: a=hunter2\nnext line', 'cookie: ***\nnext line'],
  ])('keeps the rest of %j', (text, expected) => {
    expect(redactText(text)).toBe(expected)
  })

  test('takes a bare JWT out', () => {
    expect(redactText('got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln here')).toBe('got *** here')
  })

  test.each([
    'connect ECONNREFUSED 127.0.0.1:8080',
    'HTTP 503 from https://api.example.com/charges?page=2',
    'Basic authentication is required',
    'a Bearer token is missing',
    'code: ECONNRESET',
    'idempotency-key: k1',
    '',
  ])('%j stays as it is', (text) => {
    expect(redactText(text)).toBe(text)
  })

  test.each(['a', 'a-', 'a:', '://', 'Bearer ', 'eyJaaaaa', 'eyJaaaaa.', '?token=', 'a.a+'])(
    'takes linear time on long runs of %j',
    (piece) => {
      const text = piece.repeat(Math.ceil(200_000 / piece.length))
      const start = performance.now()
      redactText(text)
      redactUrl(`https://${text}`)
      expect(performance.now() - start).toBeLessThan(1000)
    },
  )
})

describe('isCredentialField', () => {
  test.each([
    ['authorization', 'anything'],
    ['x-upstream', 'Bearer hunter2'],
    ['referer', 'https://a.example/?token=hunter2'],
    ['link', '<https://ann:hunter2@a.example/>; rel="next"'],
    ['location', '/next?page=2&sig=hunter2'],
  ])('%s: %s must not be written down', (name, value) => {
    expect(isCredentialField([name, value])).toBe(true)
  })

  test.each([
    ['content-type', 'application/json; charset=utf-8'],
    ['location', '/next?page=2'],
    ['link', '<https://a.example/?page=2>; rel="next"'],
    ['x-question', 'why?'],
    ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64)'],
  ])('%s: %s may', (name, value) => {
    expect(isCredentialField([name, value])).toBe(false)
  })
})

describe('the text of a hostile server', () => {
  // Where it is scanned to its end from each of these pieces, it takes minutes.
  test.each(['eyJ-', 'eyJ', 'Bearer ', 'token', 'a=', 'https://', 'cookie: "', 'eyJaaaaa.'])(
    'is read once, however often it says %j',
    (piece) => {
      expect(redactText(piece.repeat(1_000_000 / piece.length)).length).toBeGreaterThan(0)
    },
  )
})

describe('redactError', () => {
  const redactError = (error: unknown): unknown => REDACTOR.error(error)

  test('leaves an error alone that says no secret, and what is no error', () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:80')
    const error = new TypeError('fetch failed', { cause })
    for (const thing of [error, undefined, null, 'hunter2', { token: 1 }]) expect(redactError(thing)).toBe(thing)
  })

  test('makes a likeness of one that does, with its name, code and causes', () => {
    const cause = Object.assign(new Error('sent Bearer hunter2'), { code: 'ECONNRESET' })
    const error = Object.assign(new TypeError('at https://a.example/?token=hunter2', { cause }), { code: 'X' })
    const likeness = redactError(error) as Error
    expect(likeness).toMatchObject({ name: 'TypeError', message: 'at https://a.example/?token=***', code: 'X' })
    expect(likeness.cause).toMatchObject({ message: 'sent Bearer ***', code: 'ECONNRESET' })
    expect(`${likeness.stack}${(likeness.cause as Error).stack}`).not.toContain('hunter2')
    expect(likeness.stack).toContain('redact.test.ts')
  })

  test('goes round no circle of causes for ever', () => {
    const error = new Error('Bearer hunter2')
    error.cause = error
    const seen: string[] = []
    for (let one = redactError(error); one instanceof Error; one = one.cause) seen.push(`${one.message}${one.stack}`)
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.join()).not.toContain('hunter2')
  })
})

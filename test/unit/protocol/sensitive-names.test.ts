import { describe, expect, test } from 'vitest'
import { isCredentialHeader, isCredentialParameter } from '../../../src/protocol/sensitive-names.ts'

describe('isCredentialHeader', () => {
  test.each([
    'Authorization',
    'authorization',
    'Proxy-Authorization',
    'X-Forwarded-Authorization',
    'Cookie',
    'Set-Cookie',
    'X-Auth',
    'X-Auth-Key',
    'X-Api-Key',
    'apikey',
    'x_api_key',
    'ApiKey',
    'X-Goog-Api-Key',
    'X-Access-Token',
    'X-CSRF-Token',
    'X-Amz-Security-Token',
    'X-Client-Secret',
    'X-Password',
    'X-Session-Id',
    'X-Amz-Credential',
    'X-Hub-Signature-256',
    'Signature',
    'Ocp-Apim-Subscription-Key',
    'DPoP',
    'X-JWT-Assertion',
  ])('%s carries a credential', (name) => {
    expect(isCredentialHeader(name)).toBe(true)
  })

  test.each([
    'Idempotency-Key',
    'X-Idempotency-Key',
    'X-Idempotency-Token',
    'Content-Type',
    'Content-Length',
    'Accept',
    'Accept-Language',
    'User-Agent',
    'Date',
    'ETag',
    'Retry-After',
    'X-Request-Id',
    'Traceparent',
    'X-Author',
    'X-Authority-Name',
    'X-Design',
    'Holdfast-Attempt',
    'Repeatability-First-Sent',
    'Access-Control-Allow-Credentials',
    'X-RateLimit-Remaining-Tokens',
    'WWW-Authenticate',
    'Surrogate-Key',
    '',
  ])('%s does not', (name) => {
    expect(isCredentialHeader(name)).toBe(false)
  })
})

describe('isCredentialParameter', () => {
  test.each([
    'token',
    'access_token',
    'accessToken',
    'api_key',
    'apiKey',
    'key',
    'sig',
    'code',
    'password',
    'X-Amz-Signature',
    'auth',
    'userAuth',
    'jwt',
    'session_id',
    'client_secret',
  ])('%s carries a credential', (name) => {
    expect(isCredentialParameter(name)).toBe(true)
  })

  test.each(['page', 'limit', 'author', 'q', 'design', 'monkey', 'keyword', 'postcode', 'idempotency_key', ''])(
    '%s does not',
    (name) => {
      expect(isCredentialParameter(name)).toBe(false)
    },
  )
})

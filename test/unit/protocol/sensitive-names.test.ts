import { describe, expect, test } from 'vitest'
import { isCredentialHeader, isCredentialParameter, isCredentialValue } from '../../../src/protocol/sensitive-names.ts'

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
    'DD-APPLICATION-KEY',
    'X-App-Key',
    'AppKey',
    'X-Client-Key',
    'X-Consumer-Key',
    'X-License-Key',
    'X-Licence-Key',
    'X-User-Key',
    'X-Key',
    'X-Key',
    'X-Pass',
    'X-User-Pass',
    'X-Pin',
    'X-Macaroon',
    'X-MFA-Code',
    'Encryption-Key',
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
    'Sec-WebSocket-Key',
    'Repeatability-Request-ID',
    'Repeatability-Client-ID',
    'Accept-Encoding',
    'Accept-Signature',
    'X-Partition-Key',
    'X-Routing-Key',
    'X-Cache-Key',
    'X-Object-Key',
    'X-Monkey',
    'X-Mapping',
    'X-Pass-Through',
    'X-Bypass',
    'X-Pattern',
    'X-Next-Token',
    'X-Ms-Continuation-Token',
    'OpenAI-Max-Tokens',
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
    'sig',
    'password',
    'X-Amz-Signature',
    'auth',
    'userAuth',
    'jwt',
    'session_id',
    'client_secret',
    'appkey',
    'clientKey',
    'client_assertion',
    'SAMLResponse',
    'AWSAccessKeyId',
  ])('%s carries a credential', (name) => {
    expect(isCredentialParameter(name)).toBe(true)
  })

  test.each([
    'page',
    'limit',
    'author',
    'q',
    'design',
    'monkey',
    'keyword',
    'postcode',
    'idempotency_key',
    'pageToken',
    'max_tokens',
    'threadKey',
    'sortKey',
    '',
  ])('%s does not', (name) => {
    expect(isCredentialParameter(name)).toBe(false)
  })
})

describe('isCredentialValue', () => {
  test.each([
    'Bearer abc',
    'bearer abc.def',
    'Basic dXNlcjpwYXNz',
    'Digest username="ann", response="0a"',
    'AWS4-HMAC-SHA256 Credential=x',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    'jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    'sk_live_51Habc',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  ])('%s is a credential', (value) => {
    expect(isCredentialValue(value)).toBe(true)
  })

  test.each([
    '',
    'Bearer',
    'application/json; charset=utf-8',
    'Mozilla/5.0 (X11; Linux x86_64)',
    'gzip, deflate, br',
    '"33a64df5"',
    'W/"33a64df5"',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'basically fine',
    'task_live_1',
    'eyJustAWord',
  ])('%s is not', (value) => {
    expect(isCredentialValue(value)).toBe(false)
  })
})

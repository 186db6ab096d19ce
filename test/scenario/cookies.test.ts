import { describe, expect, it } from 'vitest'
import { decodeRecord, encodeRecord } from '../../src/client/operation/codec.ts'
import { type ClientOptions, createClient, memoryJournal } from '../../src/index.ts'
import { ORIGIN, rowsOf } from '../support/client-scenario.ts'
import { freshRecord } from '../support/shared-record.ts'

/** A client whose fetch notes the mode of each request and answers as told. */
function noting(modes: unknown[], answer: () => Response, options: ClientOptions) {
  const fetch = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    modes.push(init && 'credentials' in init ? init.credentials : 'platform')
    return answer()
  }
  return createClient({ baseUrl: ORIGIN, fetch, retry: false, ...options })
}
const ok = (): Response => new Response()
const refused = (): never => {
  throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })
}

describe('the credentials option', () => {
  it('is handed to fetch as it is, and left to the platform where it is not given', async () => {
    const modes: unknown[] = []
    for (const credentials of ['omit', 'same-origin', 'include', undefined] as const) {
      const client = noting(modes, ok, { journal: false, credentials })
      await client.post('/a')
      await client.get('/a')
    }
    expect(modes).toEqual(['omit', 'omit', 'same-origin', 'same-origin', 'include', 'include', 'platform', 'platform'])
  })

  it('is recorded: a resume sends with the mode of the call, whatever its own is', async () => {
    const modes: unknown[] = []
    const journal = memoryJournal()
    await noting(modes, refused, { journal, credentials: 'include', onGiveUp: 'keep' })
      .post('/a', { headers: { cookie: 'session=s3cret' } })
      .catch(() => {})
    expect(JSON.stringify(await rowsOf(journal))).not.toContain('s3cret')
    const resuming = noting(modes, ok, { journal, credentials: 'omit', headers: () => ({ cookie: 'session=fresh' }) })
    expect(await resuming.resume()).toMatchObject({ succeeded: 1 })
    expect(modes).toEqual(['include', 'include'])
  })

  it('is refused where it is none of the three words', () => {
    expect(() => createClient({ credentials: 'cookies' as 'omit' })).toThrow(
      "The option `credentials` must be 'omit' or 'same-origin' or 'include'; it was given 'cookies'.",
    )
  })

  it('is unknown of records from before, and a record with another word is set aside', () => {
    const row = encodeRecord(freshRecord())
    const bodies = { body: null, responseBody: null }
    expect(row.head).not.toContain('credentials')
    expect(decodeRecord(row, bodies).request.credentialsMode).toBeUndefined()
    const head = JSON.stringify({ ...JSON.parse(row.head), credentialsMode: 'all' })
    expect(() => decodeRecord({ ...row, head }, bodies)).toThrow(/cannot be read/)
  })
})

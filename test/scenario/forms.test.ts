import { describe, expect, it } from 'vitest'
import { KeyReuseError, memoryJournal } from '../../src/index.ts'
import { elapse, failure, rejection, rowsOf, scenario } from '../support/client-scenario.ts'

/** Each time that a form is written, the platform makes a new boundary for it. */
function form(text = 'five'): FormData {
  const data = new FormData()
  data.append('amount', text)
  data.append('receipt', new Blob(['%PDF'], { type: 'application/pdf' }), 'receipt.pdf')
  return data
}

const ONCE = { retry: false } as const

describe('a form', () => {
  it('that is posted again with the same id gets the recorded answer, also after a restart', async () => {
    const journal = memoryJournal()
    const first = scenario([{ status: 201, json: { charge: 1 } }], { journal })
    const sent = form()
    await first.client.post('/charges', { body: sent, id: 'order:1' })
    expect(await first.client.post('/charges', { body: sent, id: 'order:1' }).json()).toEqual({ charge: 1 })
    const second = scenario([], { journal })
    expect(await second.client.post('/charges', { body: form(), id: 'order:1' }).json()).toEqual({ charge: 1 })
    expect(first.fetch.calls).toHaveLength(1)
  })

  it('that is posted twice at once with the same id is one operation', async () => {
    const { client, fetch } = scenario([{ status: 201 }])
    const [one, other] = await Promise.all([
      client.post('/charges', { body: form(), id: 'order:1' }),
      client.post('/charges', { body: form(), id: 'order:1' }),
    ])
    expect([one.status, other.status]).toEqual([201, 201])
    expect(fetch.calls).toHaveLength(1)
  })

  it('with another content under the same id is refused', async () => {
    const { client } = scenario([{ status: 201 }])
    await client.post('/charges', { body: form(), id: 'order:1' })
    const error = await failure(client.post('/charges', { body: form('six'), id: 'order:1' }))
    expect(error).toBeInstanceOf(KeyReuseError)
  })

  it('that was prepared is the one that is posted with its id', async () => {
    const { client, fetch } = scenario([{ status: 201 }])
    const prepared = await client.prepare('POST', '/charges', { body: form(), id: 'order:1' })
    await client.send(prepared)
    expect((await client.post('/charges', { body: form(), id: 'order:1' })).status).toBe(201)
    expect(fetch.calls).toHaveLength(1)
  })

  it('that an SDK sends again through client.fetch, with its own key, goes out with the bytes of the first time', async () => {
    const { client, fetch } = scenario([{ fault: 'reset' }, { status: 201 }], ONCE)
    const call = () => ({ method: 'POST', headers: { 'Idempotency-Key': 'sdk-1' }, body: form() })
    await rejection(client.fetch('/charges', call()))
    expect((await client.fetch('/charges', call())).status).toBe(201)
    const [first, second] = fetch.calls
    expect(second?.text).toBe(first?.text)
    expect(second?.headers['content-type']).toBe(first?.headers['content-type'])
    expect(first?.text).toContain('receipt.pdf')
  })

  it('that is asked for again after a refusal, whose record has no body any more, goes out with its own boundary', async () => {
    const journal = memoryJournal()
    const { client, fetch, clock } = scenario([{ status: 403, body: 'no' }, { fault: 'reset' }, { status: 201 }], {
      ...ONCE,
      journal,
    })
    const call = () => ({ method: 'POST', headers: { 'Idempotency-Key': 'sdk-1' }, body: form() })
    await client.fetch('/charges', call())
    await client.flush()
    expect((await rowsOf(journal))[0]).toMatchObject({ status: 'rejected', body: null })
    await rejection(client.fetch('/charges', call()))
    await elapse(clock, 60_000, client.retry('sdk-1'))
    for (const { headers, text } of fetch.calls) {
      const [, boundary] = /boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? []
      expect(text).toContain(`--${boundary}`)
    }
    const [first, second, third] = fetch.calls
    expect(second?.text).not.toBe(first?.text)
    expect(third?.text).toBe(second?.text)
  })
})

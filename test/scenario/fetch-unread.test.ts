import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createClient, memoryJournal } from '../../src/index.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function client() {
  const fetch = async (): Promise<Response> => new Response(new ReadableStream({ start: () => {} }))
  return createClient({ baseUrl: 'http://127.0.0.1:1', journal: memoryJournal(), fetch })
}

/** Nothing here holds the answer any more when this has returned. */
async function discarded(signal: AbortSignal): Promise<WeakRef<ReadableStream>> {
  // With a key it has an attempt of its own, whose signal the caller's ends.
  const response = await client().fetch('/stream', { method: 'POST', headers: { 'idempotency-key': '"one"' }, signal })
  return new WeakRef(response.body as ReadableStream)
}

describe('an answer of client.fetch that nobody reads', () => {
  it('is not held by the signal that could end it', async () => {
    const { signal } = new AbortController()
    const bodies = await Promise.all(Array.from({ length: 20 }, () => discarded(signal)))
    for (let turn = 0; turn < 10; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      collect()
    }
    // A few may still be on the stack.
    expect(bodies.filter((body) => body.deref() !== undefined).length).toBeLessThan(5)
    expect(signal.aborted).toBe(false)
  })
})

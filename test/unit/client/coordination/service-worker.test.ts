import { describe, expect, it } from 'vitest'
import { resumeInServiceWorker, wakeServiceWorker } from '../../../../src/service-worker/index.ts'

/** A worker in which things happen, and what it waits for. */
function worker(resume: () => Promise<{ pending: number }>) {
  const scope = new EventTarget()
  let resumes = 0
  const counted = () => {
    resumes++
    return resume()
  }
  resumeInServiceWorker({ resume: counted }, scope)
  const happens = (type: string, more: object = {}): Promise<unknown>[] => {
    const waited: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>) => void waited.push(work)
    scope.dispatchEvent(Object.assign(new Event(type), { waitUntil, ...more }))
    return waited
  }
  return { happens, resumed: () => resumes }
}

const done = async () => ({ pending: 0 })

describe('a service worker', () => {
  it.each([
    ['becomes active', 'activate', {}],
    ['is woken by Background Sync', 'sync', { tag: 'holdfast' }],
    ['is asked by a page', 'message', { data: 'holdfast' }],
  ])('resumes when it %s, and stays awake for it', async (_, type, more) => {
    const { happens, resumed } = worker(done)
    const waited = happens(type, more)
    expect(waited).toHaveLength(1)
    await Promise.all(waited)
    expect(resumed()).toBe(1)
  })

  it('leaves the events of others alone', () => {
    const { happens, resumed } = worker(done)
    expect([...happens('sync', { tag: 'theirs' }), ...happens('message', { data: { some: 'thing' } })]).toEqual([])
    expect(resumed()).toBe(0)
  })

  it('fails a sync where something stays pending, so that the browser comes again', async () => {
    const { happens } = worker(async () => ({ pending: 2 }))
    await expect(Promise.all(happens('sync', { tag: 'holdfast' }))).rejects.toThrow('2 operations')
    await expect(Promise.all(happens('activate'))).resolves.toHaveLength(1)
  })

  it('becomes active also where the journal fails', async () => {
    const { happens } = worker(() => Promise.reject(new Error('no disk')))
    await expect(Promise.all(happens('activate'))).resolves.toHaveLength(1)
  })
})

describe('a page', () => {
  const registered = (registration: object | undefined) => ({ getRegistration: async () => registration })

  it('asks by Background Sync where there is one', async () => {
    const tags: string[] = []
    const sync = { register: async (tag: string) => void tags.push(tag) }
    expect(await wakeServiceWorker(registered({ sync, active: null }))).toBe(true)
    expect(tags).toEqual(['holdfast'])
  })

  it('asks with a message where there is none, or where it is not allowed', async () => {
    const said: unknown[] = []
    const active = { postMessage: (message: unknown) => said.push(message) }
    expect(await wakeServiceWorker(registered({ active }))).toBe(true)
    const sync = { register: () => Promise.reject(new DOMException('denied', 'NotAllowedError')) }
    expect(await wakeServiceWorker(registered({ active, sync }))).toBe(true)
    expect(said).toEqual(['holdfast', 'holdfast'])
  })

  it('says so where nobody could be asked', async () => {
    expect(await wakeServiceWorker(registered(undefined))).toBe(false)
    expect(await wakeServiceWorker(undefined)).toBe(false)
    expect(await wakeServiceWorker({ getRegistration: () => Promise.reject(new Error('insecure')) })).toBe(false)
  })
})

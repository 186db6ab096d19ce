import { type ParityCase, play } from '../support/parity-case.ts'
import { outcome, pause } from '../support/sight.ts'

/** Browsers have few connections to a server, and work on these one after the other. */
const MANY = 'document' in globalThis ? 20 : 50

export const theFunction: readonly ParityCase[] = [
  play('its name', { name: 'fetch' }, async ({ fetch }) => ({ name: fetch.name, type: typeof fetch })),
  play('its length', {}, async ({ fetch }) => ({ length: fetch.length })),
  play('called with globalThis', { status: 200 }, async (scene) => {
    const response = await scene.fetch.call(globalThis, scene.url())
    return { status: response.status }
  }),
  play('called with nothing', { status: 200 }, async (scene) => {
    const response = await Reflect.apply(scene.fetch, undefined, [scene.url()])
    return { status: response.status }
  }),
  play({ name: 'called as a method of something else', where: 'node' }, { status: 200 }, async (scene) => {
    const owner = { fetch: scene.fetch }
    return { status: (await owner.fetch(scene.url())).status }
  }),
  play('bound', { status: 200 }, async (scene) => {
    const bound = scene.fetch.bind(globalThis)
    return { status: (await bound(scene.url())).status }
  }),
  play('with more arguments than it takes', { status: 200 }, async (scene) => {
    const fetch = scene.fetch as (...args: unknown[]) => Promise<Response>
    return { status: (await fetch(scene.url(), {}, 'more')).status }
  }),
  ...['GET', 'POST'].map((method) =>
    play(`many at a time, ${method}`, { texts: { 0: 'answer 0' } }, async (scene) => {
      const { fetch } = scene
      const numbers = Array.from({ length: MANY }, (_, index) => index)
      const texts = await Promise.all(
        numbers.map(async (number) => {
          const body = method === 'POST' ? { body: `${number}` } : {}
          const response = await fetch(scene.url({ body: `answer ${number}` }, `n${number}`), { method, ...body })
          return response.text()
        }),
      )
      const seen = await scene.seen()
      return { total: texts.length, texts, seen: seen.map(({ body }) => body).sort() }
    }),
  ),
  play('one after the other in order', { texts: ['1', '2', '3'] }, async (scene) => {
    const { fetch } = scene
    const texts: string[] = []
    for (const body of ['1', '2', '3']) texts.push(await (await fetch(scene.url({ body }))).text())
    return { texts }
  }),
  play('an entry in the resource timing', { entries: 1 }, async (scene) => {
    const { fetch } = scene
    performance.clearResourceTimings()
    const url = scene.url({ body: 'timed' }, 'timed')
    await (await fetch(url)).text()
    let entries: PerformanceEntry[] = []
    for (let tries = 0; tries < 20 && entries.length === 0; tries++) {
      entries = performance.getEntriesByName(url, 'resource')
      if (entries.length === 0) await pause(10)
    }
    return {
      entries: entries.length,
      kinds: entries.map((entry) => (entry as PerformanceResourceTiming).initiatorType),
    }
  }),
  play('a call inside of the answer of another', { text: 'hello' }, async (scene) => {
    const { fetch } = scene
    return fetch(scene.url())
      .then(() => fetch(scene.url()))
      .then(async (response) => ({ text: await outcome(() => response.text()) }))
  }),
]

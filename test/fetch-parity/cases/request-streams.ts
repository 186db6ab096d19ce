import { call, callSight, type ParityCase, play } from '../support/parity-case.ts'
import { REQUESTS } from '../support/scene.ts'
import { outcomeInTime } from '../support/sight.ts'

/** A stream of these texts, that notes what becomes of it. */
function streamOf(texts: readonly string[], log: unknown[] = []): ReadableStream<Uint8Array> {
  const left = [...texts]
  return new ReadableStream({
    pull(controller) {
      const text = left.shift()
      if (text === undefined) return controller.close()
      controller.enqueue(new TextEncoder().encode(text))
    },
    cancel: (reason) => void log.push(['cancelled', (reason as Error | undefined)?.name ?? typeof reason]),
  })
}

const HALF = { method: 'POST', duplex: 'half' } as const

export const requestStreams: readonly ParityCase[] = [
  call({ name: 'stream up', where: 'node', difference: 'stored' }, { atOnce: { locked: true } }, (scene) => [
    scene.url(),
    { ...HALF, body: streamOf(['one', 'two']) },
  ]),
  call(
    'stream up without duplex',
    { error: { class: 'TypeError' }, requests: [], after: { locked: false } },
    (scene) => [scene.url(), { method: 'POST', body: streamOf(['one']) }],
  ),
  call('stream up with duplex full', { error: { class: 'TypeError' } }, (scene) => [
    scene.url(),
    { method: 'POST', body: streamOf(['one']), duplex: 'full' as never },
  ]),
  call({ name: 'stream up that is empty', where: 'node' }, {}, (scene) => [
    scene.url(),
    { ...HALF, body: streamOf([]) },
  ]),
  call({ name: 'stream up by PUT', where: 'node', difference: 'stored' }, {}, (scene) => [
    scene.url(),
    { ...HALF, method: 'PUT', body: streamOf(['one']) },
  ]),
  call('stream up that is locked', { error: { class: 'TypeError' }, requests: [] }, (scene) => {
    const body = streamOf(['one'])
    body.getReader()
    return [scene.url(), { ...HALF, body }]
  }),
  call('stream up that was read', { error: { class: 'TypeError' }, requests: [] }, async (scene) => {
    const body = streamOf(['one', 'two'])
    const reader = body.getReader()
    await reader.read()
    reader.releaseLock()
    return [scene.url(), { ...HALF, body }]
  }),
  call('stream up that fails', { error: { class: 'TypeError' } }, (scene) => [
    scene.url(),
    { ...HALF, body: new ReadableStream({ pull: (controller) => controller.error(new Error('spilled')) }) },
  ]),
  call({ name: 'stream up of texts instead of bytes' }, {}, (scene) => [
    scene.url(),
    {
      ...HALF,
      body: new ReadableStream({
        start(controller) {
          controller.enqueue('text')
          controller.close()
        },
      }),
    },
  ]),
  call(
    { name: 'stream up through a Request', where: 'node', difference: 'stored' },
    { atOnce: { bodyUsed: true } },
    (scene) => [new Request(scene.url(), { ...HALF, body: streamOf(['one', 'two']) } as RequestInit)],
  ),
  play(
    { name: 'stream up, seen as it comes', where: 'node', difference: 'storedFirst' },
    { order: ['chunk', 'more'] },
    async (scene) => {
      const { fetch } = scene
      const order: unknown[] = []
      let more = (): void => {}
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('one'))
          more = () => {
            controller.enqueue(new TextEncoder().encode('two'))
            controller.close()
          }
        },
      })
      const promise = fetch(scene.url(), { ...HALF, body })
      order.push(await scene.soon('chunk'))
      more()
      order.push('more')
      const status = await outcomeInTime(async () => (await promise).status)
      return { order, status, requests: REQUESTS }
    },
  ),
  play('stream up of a call that was aborted before', { sight: { error: { name: 'AbortError' } } }, async (scene) => {
    const log: unknown[] = []
    const sight = await callSight(scene, [
      scene.url(),
      { ...HALF, body: streamOf(['one'], log), signal: AbortSignal.abort() },
    ])
    return { sight, log }
  }),
  play(
    { name: 'stream up of a call that is aborted', where: 'node', difference: 'storedFirst' },
    { event: 'head' },
    async (scene) => {
      const { fetch } = scene
      const log: unknown[] = []
      const abort = new AbortController()
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('one')),
        cancel: (reason) => void log.push((reason as Error).name),
      })
      const promise = fetch(scene.url(), { ...HALF, body, signal: abort.signal })
      const rejected = outcomeInTime(() => promise)
      const event = await scene.soon('head')
      abort.abort()
      return { event, rejected: await rejected, log, broken: await scene.soon('broken') }
    },
  ),
]

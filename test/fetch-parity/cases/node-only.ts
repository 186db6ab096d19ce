import { Agent, FormData as PackageFormData, Request as PackageRequest } from 'undici'
import { call, type ParityCase, play } from '../support/parity-case.ts'
import { outcome } from '../support/sight.ts'

const node = (name: string): { name: string; where: 'node' } => ({ name, where: 'node' })

async function* pieces(): AsyncGenerator<unknown> {
  yield new TextEncoder().encode('one')
  yield 'two'
}

/** What only Node's fetch knows; it has no page that could give an address to what is relative. */
export const nodeOnly: readonly ParityCase[] = [
  ...['/path', 'path', '', '?query', '//host/path', '#part'].map((url) =>
    call(node(`relative URL ${JSON.stringify(url)}`), { error: { class: 'TypeError' }, requests: [] }, () => [url]),
  ),
  call({ ...node('body: an async iterable'), difference: 'stored' }, { requests: [{ body: 'onetwo' }] }, (scene) => [
    scene.url(),
    { method: 'POST', duplex: 'half', body: pieces() as never },
  ]),
  call(node('body: an async iterable without duplex'), { error: { class: 'TypeError' } }, (scene) => [
    scene.url(),
    { method: 'POST', body: pieces() as never },
  ]),
  play(node('dispatcher of a call'), { dispatched: ['/ticket/thing'], status: 200 }, async (scene) => {
    const { fetch } = scene
    const dispatched: unknown[] = []
    const agent = new Agent()
    const dispatcher = agent.compose((dispatch) => (options, handler) => {
      dispatched.push(options.path)
      return dispatch(options, handler)
    })
    const { status } = await fetch(scene.url(), { dispatcher } as never)
    await agent.close()
    return { dispatched, status }
  }),
  play(node('dispatcher that fails'), { isAsked: true }, async (scene) => {
    const { fetch } = scene
    let dispatched = 0
    const dispatcher = {
      dispatch() {
        dispatched++
        throw new TypeError('no way')
      },
    }
    const refused = await outcome(() => fetch(scene.url(), { method: 'POST', body: 'x', dispatcher } as never))
    return { isAsked: dispatched > 0, refused }
  }),
  play(node('names of headers as they are written'), { names: ['X-Own', 'x-other'] }, async (scene) => {
    const { fetch } = scene
    const names: unknown[] = []
    const agent = new Agent()
    const dispatcher = agent.compose((dispatch) => (options, handler) => {
      const written = Array.isArray(options.headers) ? options.headers : Object.keys(options.headers ?? {})
      names.push(...written.filter((name) => /^x-o/i.test(String(name))))
      return dispatch(options, handler)
    })
    await fetch(scene.url(), { headers: { 'X-Own': '1', 'x-other': '2' }, dispatcher } as never)
    await agent.close()
    return { names }
  }),
  call(node('body: a SharedArrayBuffer'), {}, (scene) => [
    scene.url(),
    { method: 'POST', body: new SharedArrayBuffer(2) as never },
  ]),
  call(node('body: a Buffer from the pool'), { requests: [{ body: 'pooled' }] }, (scene) => [
    scene.url(),
    { method: 'POST', body: Buffer.from('pooled') },
  ]),
  call(node('body: a form of the package undici'), {}, (scene) => {
    const body = new PackageFormData()
    body.append('a', '1')
    return [scene.url(), { method: 'POST', body: body as never }]
  }),
  call(node('a Request of the package undici'), {}, (scene) => [new PackageRequest(scene.url()) as never]),
]

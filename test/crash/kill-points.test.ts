import { describe, expect, it } from 'vitest'
import type { CallerPoint } from '../support/child-caller.ts'
import type { Fate } from '../support/counting-server.ts'
import { crashScene, hear, only, saidBy } from './crash-scene.ts'

const scene = crashScene()

interface Shape {
  readonly id?: string
  readonly name?: string
}

/** What is kept of an operation depends on these. Histories of the simulation have only one of them, too. */
const shapes: readonly (readonly [string, Shape])[] = [
  ['a plain one', {}],
  ['one with an id and a name', { id: 'order:42', name: 'charge' }],
]

interface Point {
  readonly title: string
  readonly point?: CallerPoint
  /** What the server does with the first requests. */
  readonly script?: readonly Fate[]
  /** What the server says when the moment has come, where the client can't know it. */
  readonly serverSays?: string
  readonly bodyBytes?: number
  /** Requests before the kill, and with the resume. */
  readonly requests: readonly [before: number, after: number]
  readonly named?: true
}

const points: readonly Point[] = [
  { title: 'after the write and before anybody knows of it', point: 'after the write', requests: [0, 1] },
  { title: 'after acceptance and before sending', point: 'before sending', requests: [0, 1] },
  { title: 'while sending', script: ['stall'], serverSays: 'stalls', bodyBytes: 9_000_000, requests: [1, 2] },
  { title: 'before the server works', script: ['hang'], serverSays: 'hangs', requests: [1, 2] },
  { title: 'after the server worked', script: ['work-and-hang'], serverSays: 'worked', requests: [1, 2] },
  { title: 'between two attempts', point: 'between attempts', script: ['lose'], requests: [1, 2] },
  { title: 'after the answer and before its record', point: 'before the record of the answer', requests: [1, 2] },
  { title: 'after the record of the answer', point: 'after the record of the answer', requests: [1, 1] },
  { title: 'in the handler', point: 'in the handler', named: true, requests: [1, 1] },
  { title: 'after the handler', point: 'after the handler', named: true, requests: [1, 1] },
]

describe.concurrent.each(shapes)('%s whose process is killed', (_, shape) => {
  const possible = points.filter((point) => !point.named || shape.name !== undefined)

  it('before the write was never accepted, and is never sent', async () => {
    const { db, path } = scene.place()
    const caller = await scene.call({ db, path, point: 'before the write', ...shape })
    await hear(caller, 'at')
    await caller.kill()
    const said = await scene.resumeOnce({ db })
    expect(only(saidBy(caller), 'accepted')).toEqual([])
    expect(said).toMatchObject([{ is: 'ready' }, { is: 'report', report: { claimed: 0 } }, { is: 'left', left: [] }])
    expect(await (await scene.server).at(path)).toEqual([])
  })

  it.each(possible)('$title is done exactly once', async ({ point, script = [], serverSays, bodyBytes, requests }) => {
    const { db, path } = scene.place()
    const server = await scene.server
    await server.mode({ path, script })
    const caller = await scene.call({ db, path, point, bodyBytes, ...shape })
    const { key } = await hear(caller, 'key')
    await (serverSays ? server.process.until((line) => line === `${serverSays} ${key}`) : hear(caller, 'at'))
    await caller.kill()
    expect((await server.at(path))[0]?.requests ?? 0).toBe(requests[0])
    if (serverSays === 'stalls') {
      await server.flow()
      await server.process.until((line) => line === `cut ${key}`)
    }

    const said = await scene.resumeOnce({ db })

    const counted = (await server.report()).operations[String(key)]
    expect(await server.at(path)).toHaveLength(1)
    expect(counted).toMatchObject({ requests: requests[1], effects: 1 })
    expect(counted?.bodies).toHaveLength(1)
    const answers =
      shape.name === undefined ? [] : [{ status: 'succeeded', key, answer: { number: expect.any(Number) } }]
    expect(only(said, 'handled')).toMatchObject(answers)
    expect(said.at(-1)).toMatchObject({ is: 'left', left: [{ key, status: 'succeeded' }] })
  })
})

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startProgram } from '../support/child-program.ts'
import { CountingServer } from '../support/counting-server.ts'
import { crashScene, hear, only, saidBy } from './crash-scene.ts'

const scene = crashScene()

it('does it once where both ends die after the server worked', async () => {
  const { db, path } = scene.place()
  const effects = join(scene.folder, 'effects-of-the-first')
  const first = await CountingServer.start(effects)
  await first.mode({ path, script: ['work-and-hang'] })
  const input = { origin: first.origin, db, path, name: 'charge' }
  const caller = await startProgram('child-caller', input)
  const { key } = await hear(caller, 'key')
  await first.process.until((line) => line === `worked ${key}`)
  await Promise.all([first.stop(), caller.kill()])

  const second = await CountingServer.start(effects, first.port)
  const resumer = await startProgram('child-resumer', input)
  await resumer.ended

  expect(only(saidBy(resumer), 'handled')).toMatchObject([{ key, status: 'succeeded', replayed: true }])
  expect((await second.report()).operations[String(key)]).toMatchObject({ requests: 1, effects: 1 })
})

it('never sends again, in any process, what the server said not to', async () => {
  const { db, path } = scene.place()
  const server = await scene.server
  await server.mode({ path, script: ['do-not-retry'] })
  const caller = await scene.call({ db, path, name: 'charge', point: 'after the record of the answer' })
  await hear(caller, 'at')
  await caller.kill()

  const said = [...(await scene.resumeOnce({ db })), ...(await scene.resumeOnce({ db }))]

  expect(only(said, 'handled')).toMatchObject([{ status: 'rejected' }])
  expect(await server.at(path)).toMatchObject([{ requests: 1, effects: 0 }])
})

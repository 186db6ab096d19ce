import { expect, it } from 'vitest'
import { hear } from '../crash-scene.ts'
import { type Answered, charge, chargeInTheEnd, count, newFile, startServer } from './ledger-scene.ts'

it('does it once where fifty ask two processes at the same time, and tells everybody the same', async () => {
  const db = newFile()
  const servers = await Promise.all([startServer({ db, form: 'database' }), startServer({ db, form: 'path' })])
  for (let round = 0; round < 4; round++) {
    const key = `k${round}`
    const asked = Array.from({ length: 50 }, (_, at) => charge(servers[at % 2] as (typeof servers)[0], key))
    const answers = (await Promise.all(asked)) as Answered[]
    const done = answers.filter(({ status }) => status === 201)
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    expect(done.filter(({ replayed }) => !replayed).length).toBe(1)
    expect(new Set(done.map(({ body }) => body)).size).toBe(1)
    expect(count(db, 'charges', key)).toBe(1)
    const later = await Promise.all(servers.map((server) => charge(server, key)))
    expect(later.map((answered) => answered?.body)).toEqual([done[0]?.body, done[0]?.body])
  }
})

it('opens one new file from four processes at the same time', async () => {
  const db = newFile()
  const servers = await Promise.all(
    (['path', 'database', 'path', 'database'] as const).map((form) => startServer({ db, form })),
  )
  const answers = await Promise.all(servers.map((server) => chargeInTheEnd(server, 'k')))
  expect(answers.map((answered) => answered?.status)).toEqual([201, 201, 201, 201])
  expect(count(db, 'charges', 'k')).toBe(1)
})

it('lets nobody commit who was frozen for longer than its lease', async () => {
  const db = newFile()
  const [lease, form] = ['1500ms', 'database'] as const
  const other = await startServer({ db, form, lease })
  const frozen = await startServer({ db, form, lease, pauseAt: 'before the effect', pauseMs: 300 })
  const late = charge(frozen, 'k')
  await hear(frozen.process, 'at')
  frozen.process.signal('SIGSTOP')

  expect((await charge(other, 'k'))?.status).toBe(409)
  const answered = await chargeInTheEnd(other, 'k')
  frozen.process.signal('SIGCONT')

  expect(answered).toMatchObject({ status: 201, replayed: false })
  // By its own clock, or by the store: the lease is over.
  expect((await late)?.status).toBeOneOf([409, 503])
  expect(await charge(frozen, 'k')).toEqual({ ...answered, replayed: true })
  expect(count(db, 'charges', 'k')).toBe(1)
})

import { expect, it } from 'vitest'
import { ProgramOutbox } from '../../src/testing/simulation/program-outbox.ts'
import type { SimulatedDisk } from '../../src/testing/simulation/simulated-disk.ts'
import type { SimulatedProcess } from '../../src/testing/simulation/simulated-process.ts'

it('operations that a program leaves to a resume are asked for by the user who is logged in at each of them', async () => {
  const asked: unknown[] = []
  let user = 'ann'
  const client = {
    async prepare(_method: string, _url: string, { headers }: { readonly headers: unknown }) {
      asked.push(headers)
      user = 'bob'
      return { persist: async () => {} }
    },
  }
  const disk = { begin: () => ({ end: () => {} }) } as unknown as SimulatedDisk
  const outbox = new ProgramOutbox(client as never, { alive: true } as SimulatedProcess, disk)
  const backlog = { label: 'op', origin: 'http://api.test', slot: 0, at: 0, count: 2, name: undefined, lane: undefined }
  await outbox.layUp(backlog, () => user)
  expect(asked).toEqual([{ 'x-user': 'ann' }, { 'x-user': 'bob' }])
})

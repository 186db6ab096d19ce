import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { createClient } from '../../src/index.ts'
import { scriptedFetch } from '../../src/testing/index.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

it('HOLDFAST_DB=:memory: keeps the default journal in memory, for every client of the process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
  vi.stubEnv('HOLDFAST_DB', ':memory:')
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
  const fetch = scriptedFetch([{ status: 201 }])
  const options = { baseUrl: 'https://api.test', fetch }
  const first = createClient(options)
  const order = first.post('/orders', { id: 'order:1' })
  expect(await order.accepted).toBe('memory')
  await order
  await first.close()
  const second = createClient(options)
  expect(await second.operation('order:1')).toMatchObject({ status: 'succeeded', key: order.key })
  await second.close()
  expect(existsSync(':memory:')).toBe(false)
  expect(existsSync(join(folder, '.holdfast'))).toBe(false)
  await rm(folder, { recursive: true })
})

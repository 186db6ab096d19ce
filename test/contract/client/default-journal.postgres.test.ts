import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createClient } from '../../../src/index.ts'
import { scriptedFetch } from '../../../src/testing/index.ts'
import { journalScene } from '../../support/postgres-journal.ts'

const scene = journalScene()
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe('HOLDFAST_DB with the URL of a Postgres', () => {
  it.each(['postgres', 'postgresql'])('%s:// opens a journal there, and nothing on disk', async (scheme) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-url-'))
    vi.spyOn(process, 'cwd').mockReturnValue(folder)
    vi.stubEnv('HOLDFAST_DB', scene.url.replace(/^postgres(ql)?:/, `${scheme}:`))
    const id = `order:${scheme}`
    const client = createClient({ baseUrl: 'https://api.test', fetch: scriptedFetch([{ status: 201 }]) })
    await client.post('/orders', { id })
    await client.close()
    const journal = scene.journalWith({ connectionString: scene.url })
    const reader = createClient({ journal })
    expect(await reader.operation(id)).toMatchObject({ status: 'succeeded' })
    await reader.close()
    expect(readdirSync(folder)).toEqual([])
    expect(existsSync(`${scheme}:`)).toBe(false)
    rmSync(folder, { recursive: true })
  })
})

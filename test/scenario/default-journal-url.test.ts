import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClient } from '../../src/index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-url-'))
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

function refusalOf(url: string, options: object = {}): { readonly name?: string; readonly message: string } {
  vi.stubEnv('HOLDFAST_DB', url)
  try {
    createClient(options)
  } catch (error) {
    return error as Error
  }
  return { message: 'none' }
}

describe('HOLDFAST_DB with a URL that no journal understands', () => {
  it.each(['mysql://app:hunter2@db/shop', 'FILE:///x:hunter2/shop.db', ' redis+tls://:hunter2@db'])(
    'refuses %s without its password, and makes no folder of it',
    (url) => {
      for (const options of [{}, { journal: { fallback: 'memory' } }]) {
        const refusal = refusalOf(url, options)
        expect(refusal).toMatchObject({ name: 'ConfigurationError' })
        expect(refusal.message).toContain('postgres://')
        expect(refusal.message).not.toContain('hunter2')
      }
      expect(existsSync(join(folder, url.split('/')[0] ?? ''))).toBe(false)
    },
  )

  it('is of no interest to a client that has a journal of its own', () => {
    expect(refusalOf('mysql://app:hunter2@db/shop', { journal: false })).toEqual({ message: 'none' })
  })
})

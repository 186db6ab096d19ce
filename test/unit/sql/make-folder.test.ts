import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeFolder } from '../../../src/sql/make-folder.ts'
import { storageFailure } from '../../../src/sql/sqlite-failure.ts'

let scratch: string
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-folder-'))
})
afterEach(() => rmSync(scratch, { recursive: true }))

function failureOf(path: string): unknown {
  try {
    makeFolder(path)
  } catch (error) {
    return error
  }
  return undefined
}

describe('a folder', () => {
  test('is made with those above it, for the eyes of this user only', () => {
    makeFolder(join(scratch, 'a', 'b', 'c'))
    for (const made of ['a', 'a/b', 'a/b/c']) expect(statSync(join(scratch, made)).mode & 0o777, made).toBe(0o700)
    makeFolder(join(scratch, 'a', 'b', 'c'))
  })

  test('of the default journal keeps itself out of Git, and one that was there is left as it is', () => {
    makeFolder(join(scratch, 'here', '.holdfast'))
    expect(readFileSync(join(scratch, 'here', '.holdfast', '.gitignore'), 'utf8')).toBe('*\n')
    expect(existsSync(join(scratch, 'here', '.gitignore'))).toBe(false)
    mkdirSync(join(scratch, '.holdfast'))
    makeFolder(join(scratch, '.holdfast'))
    expect(existsSync(join(scratch, '.holdfast', '.gitignore'))).toBe(false)
  })

  test('is taken as it is where a link leads to it', () => {
    symlinkSync(scratch, join(scratch, 'link'))
    makeFolder(join(scratch, 'link', 'a'))
    expect(existsSync(join(scratch, 'a'))).toBe(true)
  })

  test('is not made below a file, nor where a link leads nowhere', () => {
    writeFileSync(join(scratch, 'file'), '')
    symlinkSync(join(scratch, 'nowhere'), join(scratch, 'dangling'))
    expect(failureOf(join(scratch, 'file', 'a'))).toMatchObject({ code: 'ENOTDIR' })
    expect(failureOf(join(scratch, 'dangling', 'a'))).toMatchObject({ code: 'EEXIST' })
  })
})

// In a process of its own, since Node's recursive mkdir spins there and can't be stopped.
test.runIf(process.platform === 'linux')('a file system that takes no folders ends it with an error', async () => {
  const program = join(scratch, 'program.mjs')
  const entry = fileURLToPath(new URL('../../../src/sql/make-folder.ts', import.meta.url))
  await build({ entryPoints: [entry], outfile: program, bundle: true, format: 'esm', platform: 'node' })
  const script = `import { makeFolder } from ${JSON.stringify(program)}
    try { makeFolder('/proc/nope/deeper') } catch (error) { console.log(error.code) }`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 5_000,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  })
  expect({ signal: child.signal, said: child.stdout.trim() }).toEqual({ signal: null, said: 'ENOENT' })
})

test('a folder that can not be made is told in a sentence', () => {
  const failure = storageFailure(Object.assign(new Error('x'), { code: 'ENOENT' }), 'The journal /proc/nope/a.db')
  expect(failure.message).toBe(
    'The journal /proc/nope/a.db cannot be created: its folder does not exist and cannot be made there (ENOENT)',
  )
})

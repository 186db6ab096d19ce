import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findBrowser } from '../../browser/support/find-browser.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-find-browser-'))
  vi.spyOn(console, 'log').mockImplementation(() => {})
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

function program(name: string, text = ''): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

const search = (isRoot = false, env: Record<string, string> = {}): Promise<string> =>
  findBrowser({ env: { PATH: folder, ...env }, isRoot })

/** Writes down what it is asked for, and installs on the n-th time. */
const aptGet = (worksAt: number): string =>
  program(
    'apt-get',
    `PATH=/usr/bin:/bin
echo "$DEBIAN_FRONTEND $*" >> ${folder}/asked
case "$*" in *install*) ;; *) exit 0 ;; esac
[ "$(grep -c install ${folder}/asked)" -ge ${worksAt} ] || { echo 'Unable to locate package' >&2; exit 100; }
touch ${folder}/chromium; chmod +x ${folder}/chromium`,
  )
const asked = (): string[] => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n')

describe('finding a browser', () => {
  it('takes the one that CHROME_PATH names', async () => {
    program('chromium')
    const other = program('other')
    expect(await search(false, { CHROME_PATH: other })).toBe(other)
  })

  it('says so where CHROME_PATH names none', async () => {
    program('chromium')
    await expect(search(false, { CHROME_PATH: '/nowhere/chrome' })).rejects.toThrow(
      'CHROME_PATH is /nowhere/chrome, but there is no program of that name',
    )
  })

  it.each(['chromium', 'google-chrome'])('finds an installed %s', async (name) => {
    const path = program(name)
    expect(await search()).toBe(path)
  })

  it('takes no folder and no plain file for a program', async () => {
    mkdirSync(join(folder, 'chromium'))
    writeFileSync(join(folder, 'google-chrome'), '')
    await expect(search()).rejects.toThrow('need Chromium or Chrome')
  })

  it('installs what Debian has, without a question', async () => {
    aptGet(1)
    expect(await search(true)).toBe(join(folder, 'chromium'))
    expect(asked()).toEqual([expect.stringMatching(/^noninteractive .*install --yes .*chromium$/)])
  })

  it('fetches the list of packages where there is none yet', async () => {
    aptGet(2)
    expect(await search(true)).toBe(join(folder, 'chromium'))
    expect(asked()).toEqual([
      expect.stringMatching(/install/),
      expect.stringMatching(/update$/),
      expect.stringMatching(/install/),
    ])
  })

  it('shows what apt-get said when it fails', async () => {
    aptGet(9)
    await expect(search(true)).rejects.toThrow('Unable to locate package')
  })

  it('installs nothing without the right to', async () => {
    aptGet(1)
    await expect(search()).rejects.toThrow('apt-get install chromium')
    expect(existsSync(join(folder, 'asked'))).toBe(false)
  })
})

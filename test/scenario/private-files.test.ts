import { chmodSync, existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLedger } from '../../src/server/index.ts'
import { sqliteLedger } from '../../src/server/sqlite/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { afterwards, temporaryFolder } from '../support/shared-folder.ts'

/** Opens a file of its own, and closes it. */
const OPENINGS: Record<string, (path: string) => Promise<unknown>> = {
  ledger: async (path) => {
    const ledger = createLedger({ store: sqliteLedger({ path }), scope: 'public' })
    afterwards(() => ledger.close())
    await ledger.find('public', 'k')
  },
  journal: async (path) => {
    const journal = sqliteJournal({ path })
    afterwards(() => journal.close())
    await journal.open()
  },
}

async function warningsOf(work: () => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = []
  const listen = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`)
  process.on('warning', listen)
  afterwards(() => process.off('warning', listen))
  await work()
  // Warnings are told in a later turn.
  await new Promise((resolve) => setImmediate(resolve))
  return warnings
}

describe.each(Object.keys(OPENINGS))('the file of a %s', (component) => {
  const open = (path: string): Promise<unknown> => OPENINGS[component]?.(path) ?? Promise.resolve()

  it('that is made is for this user only, and is not warned of', async () => {
    const path = join(temporaryFolder(), 'new.db')
    expect(await warningsOf(() => open(path))).toEqual([])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('that others can open is warned of, once', async () => {
    const path = join(temporaryFolder(), 'shared.db')
    writeFileSync(path, '')
    chmodSync(path, 0o666)
    const warnings = await warningsOf(async () => {
      await open(path)
      await open(path)
    })
    expect(warnings).toEqual([
      `HoldfastWarning: The ${component} ${path} can be opened by other users of this machine (mode 0666): use chmod 600, ` +
        'also for its -wal and -shm',
    ])
  })

  it('is not made where a link leads that leads nowhere', async () => {
    const folder = temporaryFolder()
    const [path, target] = [join(folder, 'link.db'), join(folder, 'nowhere.db')]
    symlinkSync(target, path)
    await expect(open(path)).rejects.toThrow(
      `${path} cannot be opened: it is a link to ${target}, which does not exist`,
    )
    expect([existsSync(target), readdirSync(folder)]).toEqual([false, ['link.db']])
    writeFileSync(target, '')
    chmodSync(target, 0o600)
    await expect(open(path)).resolves.toBeUndefined()
  })
})

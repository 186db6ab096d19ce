import { statSync } from 'node:fs'
import { isHoldfastError } from '../../errors/holdfast-error.ts'
import type { Component, Database } from '../database/database.ts'
import type { Place } from '../database/place.ts'
import { bytesText } from '../render/words.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

/** The database itself: is it whole, can other users read it, and what do its writes survive? */
export async function checkDatabase(database: Database): Promise<readonly Finding[]> {
  const damage = await database.damage()
  const integrity =
    damage.length === 0
      ? ok('integrity', `whole, ${bytesText(await database.bytes())}`)
      : problem('integrity', damage.join('; '), adviceOn(database.place))
  return [integrity, ...checkPermissions(database.place), ...(await checkDurability(database))]
}

function adviceOn({ kind, shown }: Place): string {
  return kind === 'sqlite'
    ? `keep a copy of ${shown}, then repair it with \`sqlite3 ${shown} .recover\``
    : 'rebuild it with REINDEX INDEX CONCURRENTLY'
}

async function checkDurability(database: Database): Promise<readonly Finding[]> {
  const facts = await database.durability()
  return facts.map(({ setting, value, fault }) => {
    const found = `${setting} = ${value}`
    if (fault === undefined) return ok('durability', found)
    const [risk = '', advice = ''] = fault.split(': ')
    return problem('durability', `${found}: ${risk}`, advice)
  })
}

/** A journal has the bodies of requests in it: it is for the eyes of its owner. */
function checkPermissions(place: Place): readonly Finding[] {
  if (place.kind !== 'sqlite' || process.platform === 'win32') return []
  const files = ['', '-wal', '-shm'].map((end) => `${place.path}${end}`)
  const modes = files.map((path) => ({ path, mode: statSync(path, { throwIfNoEntry: false })?.mode ?? 0 }))
  const open = modes.filter(({ mode }) => (mode & 0o077) !== 0)
  if (open.length === 0) return [ok('permissions', 'only its owner can read it')]
  const paths = open.map(({ path }) => path.replace(place.path, place.shown)).join(' ')
  return [warning('permissions', `other users can read ${paths}`, `chmod 600 ${paths}`)]
}

/** Undefined where there are no tables. */
export async function checkSchema(database: Database, component: Component): Promise<Finding | undefined> {
  const check = `${component} schema`
  try {
    const [found, known] = [await database.version(component), database.known(component)]
    if (found === 0) return undefined
    if (found >= known) return ok(check, `version ${found}`)
    return problem(check, `version ${found}, this command line needs ${known}`, 'run `holdfast migrate`')
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    return problem(check, error.message, 'use the command line of the newer version')
  }
}

import type { SourceFile } from '../../support/source-tree.ts'
import { OUTSIDE, PLAN, PURE_ROOMS, roomOf } from './rooms.ts'

/** Rooms that stay free of packages and builtins, so that they run anywhere and can be read alone. */
const PLAIN_ROOMS = [...PURE_ROOMS, 'foundation', 'client engine', 'client surface', 'client input', 'client front']

/**
 * Keys are the business of a package that is known for nothing else; what a request asks can be carried along its
 * calls by Node alone; and both halves hash a body with Node's own hash, which needs no copy of it.
 */
const PACKAGE_EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'foundation/identity.ts': ['uuid'],
  'foundation/inbound-context.ts': ['node:async_hooks'],
  'foundation/node-digest.ts': ['node:crypto'],
  'foundation/process-owner.ts': ['node:fs', 'node:os', 'node:worker_threads'],
}

/** Imports against the arrows of the plan, types included: to know a type is to know the room. */
export function importDirection(tree: readonly SourceFile[]): string[] {
  return tree.flatMap((file) => {
    const room = roomOf(file.path)
    if (room === undefined) return [`${file.path} is in no room of the plan`]
    return [...wrongRooms(file, room), ...strayPackages(file, room)]
  })
}

function wrongRooms(file: SourceFile, room: string): string[] {
  const targets = file.imports.flatMap((item) => item.targets)
  return targets.flatMap((target) => {
    const other = roomOf(target)
    if (other === 'door') return [`${file.path} imports the door ${target}`]
    if (other !== undefined && (OUTSIDE.includes(room) || PLAN[room]?.includes(other))) return []
    return [`${file.path} (${room}) imports ${target} (${other ?? 'no room'})`]
  })
}

function strayPackages(file: SourceFile, room: string): string[] {
  if (!PLAIN_ROOMS.includes(room)) return []
  const packages = file.imports.filter((item) => item.targets.length === 0).map((item) => item.specifier)
  const strays = packages.filter((name) => !PACKAGE_EXCEPTIONS[file.path]?.includes(name))
  return strays.map((name) => `${file.path} (${room}) imports the package ${name}`)
}

const TEST_RUNNERS = /^(vitest|node:test|jest|@jest\/.*|mocha|chai|ava|tap|uvu|bun:test)(\/|$)/

/** What the tests of others use must not bring a test runner along: they have one. */
export function testRunners(tree: readonly SourceFile[]): string[] {
  return tree.flatMap((file) =>
    file.imports
      .filter(({ specifier }) => TEST_RUNNERS.test(specifier))
      .map(({ specifier }) => `${file.path} imports the test runner ${specifier}`),
  )
}

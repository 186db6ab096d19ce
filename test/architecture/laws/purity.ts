import ts from 'typescript'
import { placeOf, type SourceFile, visit } from '../../support/source-tree.ts'
import { PURE_ROOMS, roomOf } from './rooms.ts'

/** The only files that may touch time, dice and ids. */
const KEEPERS = ['foundation/clock.ts', 'foundation/random.ts', 'foundation/identity.ts']

const TIMERS_AND_DICE = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'requestAnimationFrame',
  'requestIdleCallback',
  'performance',
  'hrtime',
  'randomUUID',
  'randomInt',
  'getRandomValues',
])
const MEMBERS = new Set(['Date.now', 'Math.random', 'AbortSignal.timeout', 'process.uptime'])
const MODULES = new Set(['node:timers', 'node:timers/promises', 'timers', 'timers/promises', 'node:perf_hooks', 'uuid'])

/** Uses of clock, dice, ids and timers outside the three files that keep them. */
export function strayTime(tree: readonly SourceFile[]): string[] {
  return tree
    .filter((file) => !KEEPERS.includes(file.path))
    .flatMap((file) => {
      const found = file.imports.filter((item) => MODULES.has(item.specifier))
      const strays = found.map((item) => `${file.path} imports ${item.specifier}`)
      visit(file.syntax, (node) => {
        const use = useOfTime(node)
        if (use) strays.push(`${placeOf(file, node)} uses ${use}`)
      })
      return strays
    })
}

function useOfTime(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node) && TIMERS_AND_DICE.has(node.text)) return node.text
  if (ts.isPropertyAccessExpression(node) && MEMBERS.has(node.getText())) return node.getText()
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) return 'new Date()'
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date()'
  return undefined
}

/** Pure rooms never wait. */
export function waitingInPureRooms(tree: readonly SourceFile[]): string[] {
  return tree
    .filter((file) => PURE_ROOMS.includes(roomOf(file.path) ?? ''))
    .flatMap((file) => {
      const waits: string[] = []
      visit(file.syntax, (node) => {
        const waiting = ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)
        if (waiting || node.kind === ts.SyntaxKind.AsyncKeyword) waits.push(`${placeOf(file, node)} waits`)
      })
      return [...new Set(waits)]
    })
}

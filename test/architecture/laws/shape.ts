import ts from 'typescript'
import { placeOf, type SourceFile, visit } from '../../support/source-tree.ts'

const MOST_LINES = 250
const NOWHERE_NAMES = /(^|[/-])(utils?|helpers?|common|misc|managers?|base)(\.ts$|[/-])/
const SILENCED =
  /@ts-(ignore|nocheck|expect-error)|biome-ignore-all|biome-ignore lint\/(?:\w+\/)?(noExplicitAny|noNonNull|noDefaultExport|noReExportAll|noConsole|noExcessive)/

export function longFiles(tree: readonly SourceFile[]): string[] {
  return tree
    .map((file) => ({ path: file.path, lines: file.text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines`)
}

/** A name that says nothing stands for a room that is missing. */
export function emptyNames(tree: readonly SourceFile[]): string[] {
  return tree.map((file) => file.path).filter((path) => NOWHERE_NAMES.test(path))
}

/** Comments that silence a law instead of keeping it. */
export function silencedLaws(tree: readonly SourceFile[]): string[] {
  return tree.flatMap((file) => {
    const match = SILENCED.exec(file.text)
    return match ? [`${file.path} silences ${match[0]}`] : []
  })
}

/** `f(x, true)` says nothing at the place of the call; an option with a name does. A condition to insist on comes first, and reads well. */
export function booleanParameters(tree: readonly SourceFile[]): string[] {
  return tree.flatMap((file) => {
    const found: string[] = []
    visit(file.syntax, (node) => {
      if (!ts.isParameter(node) || node.type?.kind !== ts.SyntaxKind.BooleanKeyword) return
      const owner = node.parent
      if (owner.parameters[0] === node) return
      if (ts.isFunctionDeclaration(owner) || ts.isMethodDeclaration(owner) || ts.isConstructorDeclaration(owner)) {
        found.push(`${placeOf(file, node)} takes a boolean`)
      }
    })
    return found
  })
}

/** A door only opens: it names what is public and does nothing itself. */
export function busyDoors(tree: readonly SourceFile[]): string[] {
  return tree
    .filter((file) => file.path === 'index.ts' || file.path.endsWith('/index.ts'))
    .flatMap((file) =>
      file.syntax.statements
        .filter((statement) => !(ts.isExportDeclaration(statement) && statement.moduleSpecifier))
        .map((statement) => `${placeOf(file, statement)} does more than re-export`),
    )
}

/** A signature of more than three may only be silenced in an adapter, where somebody else's package dictates it. */
export function longSignatures(tree: readonly SourceFile[]): string[] {
  const adapter = /^client\/(journal|transport|coordination)\/[^/]+\//
  return tree
    .filter((file) => !adapter.test(file.path) && /biome-ignore lint\/complexity\/useMaxParams/.test(file.text))
    .map((file) => `${file.path} silences useMaxParams`)
}

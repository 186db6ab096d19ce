import ts from 'typescript'
import { nodeEntries } from '../../tsup.config.ts'

/** The declarations that the build makes for each public door. */
export const DOORS = Object.keys(nodeEntries).map((entry) => `dist/${entry}.d.ts`)

/** What browsers get at the first door. */
export const BROWSER_DOOR = 'dist/browser/index.d.ts'

let shared: ts.Program | undefined

/** One program with all doors: each of its own would read the same libraries again. */
function programOfDoors(): ts.Program {
  const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, skipLibCheck: true, noEmit: true }
  shared ??= ts.createProgram([...DOORS, BROWSER_DOOR], options)
  return shared
}

/** What users see of the doors: the names that each exports, and every declaration that one can reach from them. */
export interface Surface {
  readonly exports: string
  readonly declarations: string
}

/** Sorted, without comments, each declaration once: which file the build put it in makes no difference. */
export function surfaceOf(doors: readonly string[]): Surface {
  const checker = programOfDoors().getTypeChecker()
  const declarations = new Set<string>()
  const exports = doors.map((door) => {
    const exported = exportsOf(door)
    for (const declaration of reachable(checker, exported)) declarations.add(print(declaration))
    const names = exported.map((symbol) => symbol.name).sort()
    return `${door}\n${names.map((name) => `  ${name}\n`).join('')}`
  })
  return { exports: exports.sort().join('\n'), declarations: `${[...declarations].sort().join('\n\n')}\n` }
}

/** Where the surface of all doors is on record. */
export const RECORD = {
  exports: 'test/architecture/api/exports.txt',
  declarations: 'test/architecture/api/declarations.d.ts',
} as const satisfies Record<keyof Surface, string>

function exportsOf(door: string): ts.Symbol[] {
  const program = programOfDoors()
  const file = program.getSourceFile(door)
  const module = file && program.getTypeChecker().getSymbolAtLocation(file)
  if (!module) throw new Error(`${door} exports nothing; has it been built?`)
  return program.getTypeChecker().getExportsOfModule(module)
}

function reachable(checker: ts.TypeChecker, symbols: readonly ts.Symbol[]): ts.Declaration[] {
  const found = new Set<ts.Declaration>()
  const follow = (symbol: ts.Symbol | undefined): void => {
    if (!symbol) return
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    for (const declaration of target.declarations ?? []) {
      if (!isTopLevelOfOurs(declaration) || found.has(declaration)) continue
      found.add(declaration)
      walk(declaration)
    }
  }
  const walk = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) follow(checker.getSymbolAtLocation(node))
    ts.forEachChild(node, walk)
  }
  for (const symbol of symbols) follow(symbol)
  return [...found]
}

function isTopLevelOfOurs(node: ts.Declaration): boolean {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node
  return ts.isSourceFile(statement.parent) && /(^|\/)dist\/(?!.*node_modules)/.test(node.getSourceFile().fileName)
}

function print(node: ts.Declaration): string {
  const printer = ts.createPrinter({ removeComments: true })
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node
  return printer.printNode(ts.EmitHint.Unspecified, statement, node.getSourceFile())
}

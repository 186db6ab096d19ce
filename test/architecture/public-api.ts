import ts from 'typescript'

/** The doors whose surface is on record: name of the record -> the declarations that the build makes. */
export const API_RECORDS = {
  holdfast: 'dist/index.d.ts',
  'holdfast-indexeddb': 'dist/indexeddb/index.d.ts',
  'holdfast-server': 'dist/server/index.d.ts',
  'holdfast-server-adapter': 'dist/server/adapter/index.d.ts',
  'holdfast-server-fastify': 'dist/server/fastify/index.d.ts',
  'holdfast-server-hono': 'dist/server/hono/index.d.ts',
  'holdfast-server-node': 'dist/server/node/index.d.ts',
  'holdfast-server-postgres': 'dist/server/postgres/index.d.ts',
  'holdfast-server-sqlite': 'dist/server/sqlite/index.d.ts',
  'holdfast-service-worker': 'dist/service-worker/index.d.ts',
  'holdfast-sqlite': 'dist/sqlite/index.d.ts',
  'holdfast-testing': 'dist/testing/index.d.ts',
}

/** Where the record of a door lies. */
export function recordPath(name: string): string {
  return `test/architecture/api/${name}.d.ts`
}

const HEADER =
  '// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.\n'

/** What browsers get at the first door. */
export const BROWSER_DOOR = 'dist/browser/index.d.ts'

let shared: ts.Program | undefined

/** One program with all doors: each of its own would read the same libraries again. */
function programOfDoors(): ts.Program {
  const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, skipLibCheck: true, noEmit: true }
  shared ??= ts.createProgram([...Object.values(API_RECORDS), BROWSER_DOOR], options)
  return shared
}

/**
 * What a door exports, and every declaration one can reach from there, sorted and without comments. Which file the
 * build put a declaration in makes no difference.
 */
export function publicApi(entry: string): string {
  const program = programOfDoors()
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(entry)
  const door = file && checker.getSymbolAtLocation(file)
  if (!door) throw new Error(`${entry} exports nothing; has it been built?`)
  const exported = checker.getExportsOfModule(door)
  const names = exported.map((symbol) => symbol.name).sort()
  const reached = reachable(checker, exported)
  return `${HEADER}export { ${names.join(', ')} }\n\n${reached.map(print).sort().join('\n\n')}\n`
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

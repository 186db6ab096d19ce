import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import ts from 'typescript'

export interface Import {
  /** As written. */
  readonly specifier: string
  /** The files meant, relative to the root; empty for a package or a builtin. */
  readonly targets: readonly string[]
  readonly typeOnly: boolean
}

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly syntax: ts.SourceFile
  readonly imports: readonly Import[]
}

/** Every TypeScript file under a folder. */
export function readSourceTree(root: string): SourceFile[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const files = names.map((name): [string, string] => [
    relative(root, join(root, name)).split(sep).join('/'),
    readFileSync(join(root, name), 'utf8'),
  ])
  return sourceTree(Object.fromEntries(files))
}

/** The same from memory, for showing that a law can be broken. */
export function sourceTree(files: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(files)
    .map(([path, text]) => parse(path, text))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function parse(path: string, text: string): SourceFile {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports: Import[] = []
  const add = (specifier: string, typeOnly: boolean): void => {
    imports.push({ specifier, typeOnly, targets: targetsOf(path, specifier) })
  }
  visit(syntax, (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node.moduleSpecifier.text, importsTypesOnly(node))
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node.moduleSpecifier.text, node.isTypeOnly)
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteral(node.argument.literal)) add(node.argument.literal.text, true)
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      if (argument && ts.isStringLiteral(argument)) add(argument.text, false)
    }
  })
  return { path, text, syntax, imports }
}

function importsTypesOnly(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause
  if (!clause) return false
  if (clause.isTypeOnly) return true
  const named = clause.namedBindings
  return !clause.name && !!named && ts.isNamedImports(named) && named.elements.every((element) => element.isTypeOnly)
}

function targetsOf(importer: string, specifier: string): string[] {
  if (specifier === '#platform') return ['client/platform/browser.ts', 'client/platform/node.ts']
  if (!specifier.startsWith('.')) return []
  return [posix.join(posix.dirname(importer), specifier.replace(/\?(source|page)$/, ''))]
}

/** Every node below this one, itself included. */
export function visit(node: ts.Node, each: (node: ts.Node) => void): void {
  each(node)
  ts.forEachChild(node, (child) => visit(child, each))
}

/** `path:line`, for messages. */
export function placeOf(file: SourceFile, node: ts.Node): string {
  return `${file.path}:${file.syntax.getLineAndCharacterOfPosition(node.getStart(file.syntax)).line + 1}`
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'

/** The names of the members that an interface declares itself. */
export function interfaceMembers(path: string, name: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true)
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  )
  return (found?.members ?? []).flatMap((member) =>
    member.name && ts.isIdentifier(member.name) ? [member.name.text] : [],
  )
}

import { join } from 'node:path'
import ts from 'typescript'
import { type Block, root } from './pages.ts'

/** Names that a short block may use without declaring them. */
const GIVEN = `
import type { Client } from 'holdfast'
declare global {
  const client: Client
  const order: { readonly id: number; readonly total: number }
}
`

const PATHS = {
  holdfast: ['./src/index.ts'],
  'holdfast/inspector': ['./src/inspector/index.ts'],
  'holdfast/server': ['./src/server/index.ts'],
  'holdfast/server/adapter': ['./src/server/adapter/index.ts'],
  'holdfast/server/express': ['./src/server/express/index.ts'],
  'holdfast/server/fastify': ['./src/server/fastify/index.ts'],
  'holdfast/server/hono': ['./src/server/hono/index.ts'],
  'holdfast/server/node': ['./src/server/node/index.ts'],
  'holdfast/server/postgres': ['./src/server/postgres/index.ts'],
  'holdfast/server/sqlite': ['./src/server/sqlite/index.ts'],
  'holdfast/service-worker': ['./src/service-worker/index.ts'],
  'holdfast/sqlite': ['./src/sqlite/index.ts'],
  'holdfast/postgres': ['./src/postgres/index.ts'],
  'holdfast/opentelemetry': ['./src/opentelemetry/index.ts'],
  'holdfast/diagnostics-channel': ['./src/diagnostics-channel/index.ts'],
  'holdfast/testing': ['./src/testing/index.ts'],
}

/** Compiles every block against the sources, in one program. The answer names page, line and what is wrong. */
export function typeErrors(blocks: readonly Block[]): string[] {
  const files = new Map<string, { text: string; block?: Block }>([[join(root, 'docs/given.d.ts'), { text: GIVEN }]])
  for (const [index, block] of blocks.entries()) {
    files.set(join(root, `docs/block-${index}.ts`), { text: `${block.code}export {}\n`, block })
  }
  const options = readOptions()
  const program = ts.createProgram([...files.keys()], options, hostWith(files, options))
  const diagnostics = [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file)
    return source ? [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)] : []
  })
  return diagnostics.map((diagnostic) => describe(diagnostic, files))
}

function readOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
  // What a page leaves unused is unused for the sake of brevity.
  return { ...options, noUnusedLocals: false, noUnusedParameters: false, noEmit: true, paths: PATHS }
}

function hostWith(files: ReadonlyMap<string, { text: string }>, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => files.has(name) || fileExists(name)
  host.readFile = (name) => files.get(name)?.text ?? readFile(name)
  host.getSourceFile = (name, languageOrOptions, ...rest) => {
    const file = files.get(name)
    return file
      ? ts.createSourceFile(name, file.text, languageOrOptions)
      : getSourceFile.call(host, name, languageOrOptions, ...rest)
  }
  return host
}

function describe(diagnostic: ts.Diagnostic, files: ReadonlyMap<string, { block?: Block }>): string {
  const block = diagnostic.file && files.get(diagnostic.file.fileName)?.block
  const line = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0
  const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')
  return `${block?.page}:${(block?.line ?? 0) + line}: ${message}`
}

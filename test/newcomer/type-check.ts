import ts from 'typescript'

export interface TypeSettings {
  readonly module: 'node16' | 'bundler'
  readonly nodeTypes: 'installed' | 'absent'
}

export const TYPE_SETTINGS: readonly TypeSettings[] = [
  { module: 'node16', nodeTypes: 'installed' },
  { module: 'node16', nodeTypes: 'absent' },
  { module: 'bundler', nodeTypes: 'installed' },
  { module: 'bundler', nodeTypes: 'absent' },
]

const KINDS = {
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
}

/** What the compiler says about these files, as strict as it can be, also about our own declarations. */
export function typeErrorsOf(folder: string, names: readonly string[], settings: TypeSettings): string[] {
  const files = names.map((name) => `${folder}/${name}`)
  const program = ts.createProgram(files, {
    ...KINDS[settings.module],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    types: settings.nodeTypes === 'installed' ? ['node'] : [],
    typeRoots: [`${folder}/node_modules/@types`],
  })
  return ts.getPreEmitDiagnostics(program).map(({ messageText, file }) => {
    return `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

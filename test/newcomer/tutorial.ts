import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { blocksOf, root } from '../documentation/support/pages.ts'

const PAGE = 'docs/getting-started.md'

/** One program of the tutorial, as it stands on the page. */
export interface TutorialStep {
  readonly name: string
  /** TypeScript. */
  readonly code: string
  /** Its whole output. */
  readonly prints: readonly string[]
}

export function tutorialSteps(): TutorialStep[] {
  const blocks = blocksOf({ path: PAGE, text: readFileSync(join(root, PAGE), 'utf8') })
  return blocks
    .filter(({ info }) => info === 'ts run')
    .map(({ code }, index) => ({
      name: `step-${index + 1}`,
      code,
      prints: [...code.matchAll(/\/\/ prints (.*)$/gm)].map(([, line = '']) => line.trim()),
    }))
}

/** Without its types, as a newcomer to JavaScript writes it. */
export function asModule(code: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true }
  return ts.transpileModule(code, { compilerOptions }).outputText
}

/** `require` in place of `import`, and the rest in a function, since CommonJS has no `await` at its top. */
export function asCommonJs(code: string): string {
  const requires: string[] = []
  const body = asModule(code).replace(/^import (\{.*\}) from ('.*');?\n/gm, (_, names: string, from: string) => {
    requires.push(`const ${names} = require(${from})`)
    return ''
  })
  return `${requires.join('\n')}\nasync function main() {\n${body}}\nmain()\n`
}

import { readFileSync } from 'node:fs'
import { sourceFiles } from './source-files.ts'

const MADE =
  /new (ConfigurationError|BodyError|NotSentError|RejectedError|KeyReuseError|IndeterminateError|StorageError|HoldfastError|ClaimLostError|EndedTransactionError)\(/g

/** What a class says where its maker does not. */
const DEFAULTS: Readonly<Record<string, string>> = {
  ConfigurationError: 'none',
  StorageError: 'none',
  ClaimLostError: 'unknown',
  EndedTransactionError: 'unknown',
}

/** Every place of the source that makes an error, a line per file: `path | Class: effect, effect; Class: effect`. */
export function errorPlaces(): string[] {
  return sourceFiles().flatMap((path) => {
    const made = new Map<string, string[]>()
    const text = readFileSync(path, 'utf8')
    for (const { 0: start, 1: name = '', index } of text.matchAll(MADE)) {
      const effects = made.get(name) ?? []
      made.set(name, effects)
      effects.push(effectOf(argumentsAt(text, index + start.length - 1)) ?? DEFAULTS[name] ?? 'as recorded')
    }
    const told = [...made].map(([name, effects]) => `${name}: ${effects.join(', ')}`).sort()
    return told.length > 0 ? [`${path.replace(/^src\//, '')} | ${told.join('; ')}`] : []
  })
}

/** What stands between the parenthesis at this place and the one that closes it. */
function argumentsAt(text: string, open: number): string {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return text.slice(open, at)
  }
  throw new Error('A parenthesis is not closed')
}

/** The effect that is said there: one word, a choice, or what a record or a store has told. */
function effectOf(given: string): string | undefined {
  const said = /\beffect\b(?::\s*([^,}\n]+))?/.exec(given)
  if (!said) return undefined
  const words = [...(said[1] ?? '').matchAll(/'(none|unknown|applied)'/g)].map(([, word]) => word)
  return words.length > 0 ? words.sort().join(' or ') : 'as recorded'
}

import { escaped } from '../foundation/visible-text.ts'
import type { Terminal } from './terminal.ts'

/** What a terminal would obey or reorder. Line breaks and tabs stay, and so do the colours that we print ourselves. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const OBEYED = /(\x1b\[[\d;]*m)|[\p{Cc}\p{Cf}\u2028\u2029]/gu

/**
 * The last gate before the screen: keys, namespaces and metadata come from a database that others may write to. Each character
 * is shown as JSON escapes it, so that a JSON document says the same as before.
 */
export function safeTerminal(terminal: Terminal): Terminal {
  const safe = (text: string): string =>
    text.replace(OBEYED, (found, colour: string | undefined) => {
      if (found === '\n' || found === '\t') return found
      return colour !== undefined && terminal.hasColour ? found : escaped(found)
    })
  return Object.create(terminal, {
    out: { value: (text: string) => terminal.out(safe(text)) },
    err: { value: (text: string) => terminal.err(safe(text)) },
  }) as Terminal
}

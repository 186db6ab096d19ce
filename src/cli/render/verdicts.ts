import type { Terminal } from '../terminal.ts'
import { coloursOf, paintOf } from './colours.ts'
import { plainText } from './words.ts'

/** One line of a report: how it stands, what was looked at, what was seen, and what goes with it. */
export interface VerdictLine {
  readonly word: string
  readonly name: string
  readonly text: string
  readonly note: string | undefined
}

const GAP = '  '
/** A column narrower than this is worse to read than a line that the terminal breaks by itself. */
const NARROWEST = 30

export async function printVerdicts(terminal: Terminal, lines: readonly VerdictLine[]): Promise<void> {
  const colours = coloursOf(terminal)
  const wordWidth = Math.max(...lines.map(({ word }) => word.length))
  const nameWidth = Math.max(...lines.map(({ name }) => name.length))
  const indent = ' '.repeat(wordWidth + nameWidth + 2 * GAP.length)
  const room = (terminal.columns ?? Number.POSITIVE_INFINITY) - indent.length
  for (const { word, name, text, note } of lines) {
    const [first = '', ...rest] = wrapText(plainText(text), room)
    const notes = note === undefined ? [] : wrapText(`→ ${plainText(note)}`, room).map((line) => colours.dim(line))
    await terminal.out(
      `${paintOf(colours, word)(word.padEnd(wordWidth))}${GAP}${name.padEnd(nameWidth)}${GAP}${first}\n`,
    )
    for (const line of [...rest, ...notes]) await terminal.out(`${indent}${line}\n`)
  }
}

/** Breaks between words; a word that is longer than a line stays whole. */
export function wrapText(text: string, width: number): string[] {
  if (width < NARROWEST || text.length <= width) return [text]
  const at = text.lastIndexOf(' ', width)
  const end = at > 0 ? at : text.indexOf(' ', width)
  return end < 0 ? [text] : [text.slice(0, end), ...wrapText(text.slice(end + 1), width)]
}

import { describe, expect, it } from 'vitest'
import { picocolors } from '../../src/cli/libraries.ts'
import { fitWidths, TablePrinter } from '../../src/cli/render/table.ts'
import { wrapText } from '../../src/cli/render/verdicts.ts'
import { countText, durationText, relativeText } from '../../src/cli/render/words.ts'
import type { Terminal } from '../../src/cli/terminal.ts'

function terminalOf(columns: number | undefined): { readonly terminal: Terminal; readonly printed: () => string } {
  let text = ''
  const out = async (more: string): Promise<void> => {
    text += more
  }
  return { terminal: { columns, hasColour: false, out } as unknown as Terminal, printed: () => text }
}

describe('a table', () => {
  it('cuts the widest of the columns that may be cut, and no other', () => {
    const cells = [['k'.repeat(36), 'n'.repeat(30), 'r'.repeat(20)]]
    expect(fitWidths([{}, { least: 5 }, { least: 5 }], cells, 80)).toEqual([36, 20, 20])
    expect(fitWidths([{}, { least: 5 }, { least: 5 }], cells, undefined)).toEqual([36, 30, 20])
    expect(fitWidths([{}, { least: 5 }, { least: 5 }], cells, 20)).toEqual([36, 5, 5])
  })

  it('is printed in blocks with the same columns, and one line of titles', async () => {
    const { terminal, printed } = terminalOf(40)
    const printer = new TablePrinter([{ title: 'N', value: (row: number) => String(row) }], terminal)
    for (let row = 0; row < 250; row++) await printer.add(row)
    expect(printed().split('\n')).toHaveLength(202)
    await printer.flush()
    expect(printed().trim().split('\n')).toEqual(['N', ...Array.from({ length: 250 }, (_, row) => String(row))])
  })

  it('prints nothing where there are no rows', async () => {
    const { terminal, printed } = terminalOf(40)
    await new TablePrinter([{ title: 'N', value: String }], terminal).flush()
    expect(printed()).toBe('')
  })

  it('has its widths from what is seen, not from the colours', async () => {
    const { terminal, printed } = terminalOf(undefined)
    const columns = [
      { title: 'S', value: () => 'done', isWord: true },
      { title: 'K', value: () => 'x' },
    ]
    const printer = new TablePrinter(columns, { ...terminal, hasColour: true })
    await printer.add(1)
    await printer.flush()
    expect(printed()).toContain(`${picocolors.createColors(true).green('done')}  x`)
  })
})

describe('words', () => {
  it('break between words, and a long one stays whole', () => {
    expect(wrapText('one two three four five six seven eight', 30)).toEqual([
      'one two three four five six',
      'seven eight',
    ])
    expect(wrapText(`${'x'.repeat(40)} y`, 30)).toEqual(['x'.repeat(40), 'y'])
    expect(wrapText('anything', Number.POSITIVE_INFINITY)).toEqual(['anything'])
  })

  it('say lengths and counts as a person would', () => {
    expect([999, 1000, 59_999, 7_200_000, 200_000_000].map(durationText)).toEqual(['999ms', '1s', '59s', '2h', '2d'])
    expect([relativeText(0, 5000), relativeText(65_000, 0), relativeText(500, 0)]).toEqual(['5s ago', 'in 1m', 'now'])
    expect([countText(1, 'entry'), countText(2, 'entry'), countText(0, 'row')]).toEqual([
      '1 entry',
      '2 entries',
      '0 rows',
    ])
  })
})

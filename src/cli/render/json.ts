import type { Terminal } from '../terminal.ts'

/** One document. */
export function printJson(terminal: Terminal, value: unknown): Promise<void> {
  return terminal.out(`${JSON.stringify(value, null, 2)}\n`)
}

/** An array, one element a line, printed as the elements come. */
export class JsonArrayPrinter {
  readonly #terminal: Terminal
  #isEmpty = true

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  async add(value: unknown): Promise<void> {
    await this.#terminal.out(`${this.#isEmpty ? '[\n' : ',\n'}${JSON.stringify(value)}`)
    this.#isEmpty = false
  }

  flush(): Promise<void> {
    return this.#terminal.out(this.#isEmpty ? '[]\n' : '\n]\n')
  }
}

/** JSON lines: one document a line. */
export function printJsonLine(terminal: Terminal, value: unknown): Promise<void> {
  return terminal.out(`${JSON.stringify(value)}\n`)
}

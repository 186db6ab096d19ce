import { numberAt } from './canonical-number.ts'

/** Deeper than any real request, and far from the end of the stack. */
const DEEPEST = 200

/** A join is quicker than concatenation, but copies all that is nested below it: deeper than this it is not used. */
const DEEPEST_JOIN = 8

const LONE_SURROGATE = /\p{Surrogate}/u
const WORDS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

/** Code units that the scanner looks for. */
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * One text for all spellings of a JSON value: keys in order, no blanks, escapes as the characters that are meant, and
 * every number as its digits and a power of ten. Numbers are never made into floating point, where different ones would
 * become the same. Undefined where the text is not JSON, or where readers may disagree about what it says: a key
 * twice, half a surrogate pair, more than 200 levels.
 */
export function canonicalJson(text: string): string | undefined {
  return readCanonicalJson(text)?.text
}

export interface CanonicalJson {
  readonly text: string
  /** Every number survives floating point: what a parser makes of the text still says the same. */
  readonly isPortable: boolean
}

/** The canonical form, and whether it can be told from a parsed value too. */
export function readCanonicalJson(text: string): CanonicalJson | undefined {
  try {
    const scanner = new Scanner(text)
    return { text: scanner.whole(), isPortable: scanner.isPortable }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

interface Member {
  readonly key: string
  /** The key as it is written, a colon, and the value. */
  readonly text: string
}

/** Looks at code units, since this is done for each request. What is in its canonical form already is taken as it is. */
class Scanner {
  readonly #text: string
  isPortable = true
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): string {
    const value = this.#value()
    if (this.#at !== this.#text.length) throw new SyntaxError('more than one value')
    return value
  }

  /** One value and the blanks around it. */
  #value(): string {
    this.#blanks()
    const value = this.#bareValue()
    this.#blanks()
    return value
  }

  #bareValue(): string {
    const first = this.#text[this.#at]
    if (first === '"') return this.#string()
    if (first === '{' || first === '[') return this.#nested(first)
    return this.#word() ?? this.#number()
  }

  #nested(first: '{' | '['): string {
    if (++this.#depth > DEEPEST) throw new SyntaxError('too deep')
    this.#at++
    const text = first === '{' ? this.#object() : this.#array()
    this.#depth--
    return text
  }

  #array(): string {
    this.#blanks()
    if (this.#skip(']')) return '[]'
    let items = this.#value()
    while (this.#skip(',')) items += `,${this.#value()}`
    this.#expect(']')
    return `[${items}]`
  }

  #object(): string {
    this.#blanks()
    if (this.#skip('}')) return '{}'
    const members: Member[] = []
    do members.push(this.#member())
    while (this.#skip(','))
    this.#expect('}')
    const texts = inOrder(members).map(({ text }) => text)
    return this.#depth > DEEPEST_JOIN ? `{${texts.reduce((all, text) => `${all},${text}`)}}` : `{${texts.join()}}`
  }

  #member(): Member {
    this.#blanks()
    const written = this.#string()
    this.#blanks()
    this.#expect(':')
    const key = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
    return { key, text: `${written}:${this.#value()}` }
  }

  /** A string as it is to be written. Without escapes and surrogates that is how it stands there. */
  #string(): string {
    const start = this.#at
    this.#expect('"')
    for (let at = this.#at; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === QUOTE) {
        this.#at = at + 1
        return this.#text.slice(start, this.#at)
      }
      if (code === BACKSLASH || code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return this.#decoded(start, at)
    }
    throw new SyntaxError('a string without end')
  }

  /** The platform decodes it; where it ends is found by its quotes, since a pattern would need a stack for long ones. */
  #decoded(start: number, from: number): string {
    let end = this.#text.indexOf('"', from)
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1)
    if (end === -1) throw new SyntaxError('a string without end')
    this.#at = end + 1
    const value = JSON.parse(this.#text.slice(start, this.#at)) as string
    if (LONE_SURROGATE.test(value)) throw new SyntaxError('half a surrogate pair')
    return JSON.stringify(value)
  }

  #isEscaped(quote: number): boolean {
    let slashes = 0
    while (this.#text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++
    return slashes % 2 === 1
  }

  #word(): string | undefined {
    const word = WORDS[this.#text[this.#at] ?? '']
    if (word === undefined || !this.#text.startsWith(word, this.#at)) return undefined
    this.#at += word.length
    return word
  }

  #number(): string {
    const number = numberAt(this.#text, this.#at)
    if (!number) throw new SyntaxError('no value')
    this.#at = number.end
    if (!number.isPortable) this.isPortable = false
    return number.text
  }

  #blanks(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at++
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #expect(character: string): void {
    if (!this.#skip(character)) throw new SyntaxError(`${character} is missing`)
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** By their keys, of which each may stand there once. Most come in order already. */
function inOrder(members: Member[]): Member[] {
  const isRising = members.every(({ key }, index) => index === 0 || (members[index - 1] as Member).key < key)
  if (isRising) return members
  members.sort((one, other) => (one.key < other.key ? -1 : 1))
  const isTwice = members.some(({ key }, index) => index > 0 && members[index - 1]?.key === key)
  if (isTwice) throw new SyntaxError('a key twice')
  return members
}

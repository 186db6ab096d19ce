/** Deeper than any real request, and far from the end of the stack. */
const DEEPEST = 200

const NUMBER = /(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y
const BLANKS = /[ \t\n\r]*/y
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * One text for all spellings of a JSON value: keys in order, no blanks, escapes as the characters they stand for, and
 * every number as its digits and a power of ten. Numbers are never made into floating point, where different ones would
 * become the same. Undefined where the text is not JSON, or where readers may disagree about what it says: a key
 * twice, half a surrogate pair, more than 200 levels.
 */
export function canonicalJson(text: string): string | undefined {
  try {
    return new Scanner(text).whole()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

class Scanner {
  readonly #text: string
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
    if (first === '{') return this.#nested(() => this.#object())
    if (first === '[') return this.#nested(() => this.#array())
    if (first === '"') return JSON.stringify(this.#string())
    return this.#word() ?? this.#number()
  }

  #nested(read: () => string): string {
    if (++this.#depth > DEEPEST) throw new SyntaxError('too deep')
    this.#at++
    const text = read()
    this.#depth--
    return text
  }

  #array(): string {
    const items: string[] = []
    this.#list(']', () => items.push(this.#value()))
    return `[${items.join(',')}]`
  }

  #object(): string {
    const members = new Map<string, string>()
    this.#list('}', () => {
      this.#blanks()
      const key = this.#string()
      if (members.has(key)) throw new SyntaxError('a key twice')
      this.#blanks()
      this.#expect(':')
      members.set(key, this.#value())
    })
    const keys = [...members.keys()].sort()
    return `{${keys.map((key) => `${JSON.stringify(key)}:${members.get(key)}`).join(',')}}`
  }

  #list(end: string, item: () => unknown): void {
    this.#blanks()
    if (this.#skip(end)) return
    do item()
    while (this.#skip(','))
    this.#expect(end)
  }

  /** The platform decodes it; where it ends is found by its quotes, since a pattern would need a stack for long ones. */
  #string(): string {
    const start = this.#at
    this.#expect('"')
    let end = this.#text.indexOf('"', this.#at)
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1)
    if (end === -1) throw new SyntaxError('a string without end')
    this.#at = end + 1
    const value = JSON.parse(this.#text.slice(start, this.#at)) as string
    if (LONE_SURROGATE.test(value)) throw new SyntaxError('half a surrogate pair')
    return value
  }

  #isEscaped(quote: number): boolean {
    let slashes = 0
    while (this.#text[quote - 1 - slashes] === '\\') slashes++
    return slashes % 2 === 1
  }

  #word(): string | undefined {
    const word = ['true', 'false', 'null'].find((candidate) => this.#text.startsWith(candidate, this.#at))
    this.#at += word?.length ?? 0
    return word
  }

  #number(): string {
    NUMBER.lastIndex = this.#at
    const found = NUMBER.exec(this.#text)
    if (!found) throw new SyntaxError('no value')
    this.#at = NUMBER.lastIndex
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = found
    return scientific(sign, `${whole}${fraction}`, Number(exponent) - fraction.length)
  }

  #blanks(): void {
    BLANKS.lastIndex = this.#at
    BLANKS.test(this.#text)
    this.#at = BLANKS.lastIndex
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

/** `15e-1` for 1.5, 1.50 and 0.15e1; `0` for every zero. Written to be valid JSON itself. */
function scientific(sign: string, digits: string, exponent: number): string {
  let start = 0
  while (digits[start] === '0') start++
  if (start === digits.length) return '0'
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const power = exponent + digits.length - end
  if (!Number.isSafeInteger(power)) throw new SyntaxError('an exponent that nobody counts to')
  return `${sign}${digits.slice(start, end)}${power === 0 ? '' : `e${power}`}`
}

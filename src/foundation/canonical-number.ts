/** A number in a JSON text. */
export interface CanonicalNumber {
  /** The index behind it. */
  readonly end: number
  /** `15e-1` for 1.5, 1.50 and 0.15e1; `0` for every zero. Valid JSON itself. */
  readonly text: string
  /** Does it survive floating point? A decimal of at most 15 digits does; a longer one may be rounded by a parser. */
  readonly isPortable: boolean
}

/** IEEE 754: every decimal of so many significant digits is the same after a way through a double. */
const MOST_PORTABLE_DIGITS = 15
/** Powers of ten far from the ends of a double's range, with up to 15 digits before them. */
const LARGEST_PORTABLE_POWER = 290

const ZERO = 0x30
const NINE = 0x39

/** The number that begins at this index, or undefined if there is none. Its text is read once, from left to right. */
export function numberAt(text: string, start: number): CanonicalNumber | undefined {
  const sign = text[start] === '-' ? '-' : ''
  const first = start + sign.length
  const wholeEnd = text.charCodeAt(first) === ZERO ? first + 1 : digitsEnd(text, first)
  if (wholeEnd === first) return undefined
  if (text.charCodeAt(wholeEnd - 1) !== ZERO && !'.eE'.includes(text[wholeEnd] ?? ' ')) {
    // Most numbers: digits alone, of which the last one is no zero, are canonical as they stand.
    return { end: wholeEnd, text: text.slice(start, wholeEnd), isPortable: wholeEnd - first <= MOST_PORTABLE_DIGITS }
  }
  const fractionEnd = text[wholeEnd] === '.' ? digitsEnd(text, wholeEnd + 1) : wholeEnd
  if (fractionEnd === wholeEnd + 1) return undefined
  const end = exponentEnd(text, fractionEnd)
  if (end === undefined) return undefined
  const fraction = text.slice(wholeEnd + 1, fractionEnd)
  const power = (end === fractionEnd ? 0 : Number(text.slice(fractionEnd + 1, end))) - fraction.length
  return scientific(`${text.slice(first, wholeEnd)}${fraction}`, { sign, power, end })
}

/** The index behind the digits that begin here. */
function digitsEnd(text: string, start: number): number {
  let at = start
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at++
  return at
}

/** The index behind an exponent, the given one if there is none, or undefined if it has no digits. */
function exponentEnd(text: string, start: number): number | undefined {
  if (text[start] !== 'e' && text[start] !== 'E') return start
  const first = text[start + 1] === '-' || text[start + 1] === '+' ? start + 2 : start + 1
  const end = digitsEnd(text, first)
  return end === first ? undefined : end
}

interface NumberParts {
  readonly sign: string
  readonly power: number
  readonly end: number
}

function scientific(digits: string, { sign, power, end }: NumberParts): CanonicalNumber | undefined {
  let from = 0
  while (digits.charCodeAt(from) === ZERO) from++
  if (from === digits.length) return { end, text: '0', isPortable: true }
  let to = digits.length
  while (digits.charCodeAt(to - 1) === ZERO) to--
  const exponent = power + digits.length - to
  if (!Number.isSafeInteger(exponent)) return undefined
  return {
    end,
    text: `${sign}${digits.slice(from, to)}${exponent === 0 ? '' : `e${exponent}`}`,
    isPortable: to - from <= MOST_PORTABLE_DIGITS && Math.abs(exponent) <= LARGEST_PORTABLE_POWER,
  }
}

const MASK = '***'

/** Fourteen digits at least: a time in milliseconds has thirteen. */
const DIGITS = /(?<![\w.])\d(?:[ -]?\d){13,18}(?![\w.])/g
const IBAN = /(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}(?!\w)/g

/** The text without what can be the number of a card or of an account, whatever stands before it. */
export function maskNumbers(text: string): string {
  return text.replace(DIGITS, (run) => (isLuhn(run) ? MASK : run)).replace(IBAN, (run) => (isIban(run) ? MASK : run))
}

function isLuhn(run: string): boolean {
  const digits = run.replace(/\D/g, '')
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const counted = at % 2 === 0 ? digit : digit * 2
    sum += counted > 9 ? counted - 9 : counted
  }
  return sum % 10 === 0
}

/** ISO 13616: letters count from 10, the first four characters come last, and 97 leaves 1. */
function isIban(run: string): boolean {
  const text = run.replaceAll(' ', '')
  let rest = 0
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

import { ConfigurationError } from '../errors/classes.ts'
import { parseDuration } from '../foundation/duration.ts'
import { visible } from '../foundation/visible-text.ts'
import { redactText } from '../observe/redact.ts'
import { nearestName } from './nearest-name.ts'

/*
 * One sentence per mistake: which option, what is expected, what was given. Each check takes the
 * option's full name (`retry.base`) and a value that is not undefined, and returns it typed.
 */
export type Check<T> = (option: string, value: unknown) => T

export function refuseOption(option: string, expected: string, given: unknown): never {
  throw refused(option, expected, describe(given))
}

/** For a value of the wrong kind. It is not quoted: a string in the place of an object may be a secret. */
export function refuseKind(option: string, expected: string, given: unknown): never {
  throw refused(option, expected, typeof given === 'string' ? 'a string' : describe(given))
}

function refused(option: string, expected: string, given: string): ConfigurationError {
  return new ConfigurationError(`The option \`${option}\` must be ${expected}; it was given ${given}.`)
}

export function refuseBoth(one: string, other: string): never {
  throw new ConfigurationError(`The options \`${one}\` and \`${other}\` exclude each other.`)
}

/** The value in a few words, never with what could be a credential. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : `'${visible(shorten(redactText(value)))}'`
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (value === undefined) return 'undefined'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

type Fields = { readonly [name: string]: unknown }

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A nested options object; unknown names in it are refused with the nearest right spelling. */
export function checkObject(option: string, value: unknown, known: readonly string[]): Fields {
  if (!isObject(value)) return refuseOption(option, 'an object', value)
  for (const name of Object.keys(value)) if (!known.includes(name)) refuseUnknown(`${option}.`, name, known)
  return value
}

/** `owner` is what stands before the name: empty, or `retry.`. */
export function refuseUnknown(owner: string, name: string, known: readonly string[]): never {
  throw new ConfigurationError(unknownName(owner, name, known))
}

export function unknownName(owner: string, name: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  const advice = near === undefined ? `It is one of: ${known.join(', ')}.` : `Did you mean \`${owner}${near}\`?`
  return `There is no option \`${owner}${visible(shorten(name))}\`. ${advice}`
}

/** Milliseconds, 0 included. */
export function checkDuration(option: string, value: unknown): number {
  return (
    parseDuration(value) ??
    refuseOption(option, "milliseconds (0 or more) or a duration such as '250ms', '30s', '5m', '24h'", value)
  )
}

/** Milliseconds, more than 0. */
export function checkPositiveDuration(option: string, value: unknown): number {
  const ms = checkDuration(option, value)
  return ms > 0 ? ms : refuseOption(option, 'longer than 0', value)
}

export function wholeFrom(least: number): Check<number> {
  return (option, value) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? (value as number)
      : refuseOption(option, `a whole number of at least ${least}`, value)
}

export function checkBoolean(option: string, value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuseOption(option, 'true or false', value)
}

export function checkFunction<T>(option: string, value: T): T {
  return typeof value === 'function' ? value : refuseKind(option, 'a function', value)
}

export function checkSignal(option: string, value: unknown): AbortSignal {
  const fits = isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function'
  return fits ? (value as unknown as AbortSignal) : refuseOption(option, 'an AbortSignal', value)
}

/** An object with these methods. */
export function objectWith<T>(...methods: readonly string[]): Check<T> {
  return (option, value) => {
    const fits = isObject(value) && methods.every((method) => typeof value[method] === 'function')
    if (fits) return value as T
    return refuseKind(option, `an object with ${methods.map((method) => `${method}()`).join(', ')}`, value)
  }
}

export function oneOf<T extends string>(...words: readonly T[]): Check<T> {
  return (option, value) =>
    words.find((word) => word === value) ?? refuseOption(option, words.map((word) => `'${word}'`).join(' or '), value)
}

export function checkNameList(option: string, value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
  return isList ? [...value] : refuseOption(option, 'a list of names', value)
}

const LONGEST_LABEL = 512

/** A name that goes into journals: no control characters and no broken Unicode, which stores change silently. */
export function checkLabel(option: string, value: unknown): string {
  const fits =
    typeof value === 'string' && value.length > 0 && value.length <= LONGEST_LABEL && !/[\p{Cc}\p{Cs}]/u.test(value)
  return fits
    ? value
    : refuseOption(option, `a string of 1 to ${LONGEST_LABEL} characters without control characters`, value)
}

import { refuseOption } from '../configuration/option-checks.ts'
import { ConfigurationError } from '../errors/classes.ts'
import { isNeverStored } from './admission/stored-headers.ts'

export function checkName(option: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value)) return value
  return refuseOption(option, 'a name of HTTP', value)
}

export function checkKept(option: string, value: unknown): readonly string[] {
  const names = checkNames(option, value)
  const wrong = names.find((name) => isNeverStored(name.toLowerCase()))
  if (wrong === undefined) return names
  throw new ConfigurationError(
    `The option \`${option}\` names ${wrong}, which belongs to one connection or is set by the ledger: a replay has its own`,
  )
}

export function lowerCase(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()))
}

export function checkNames(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) return refuseOption(option, 'an array of names', value)
  return value.map((name, index) => checkName(`${option}[${index}]`, name))
}

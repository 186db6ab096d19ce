import { checkObject } from './option-checks.ts'

/** What an option is where it is left out, and what makes sure of one that is given. */
type Field = readonly [fallback: unknown, check: (option: string, value: never) => unknown]
type FieldsOf<Options> = { readonly [Name in keyof Options]-?: Field }
type ReadAs<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends readonly [
    infer Fallback,
    (option: string, value: never) => infer Value,
  ]
    ? Fallback | Value
    : never
}

/** A nested object of options, read by its table. Names that are not in the table are refused. */
export function readOptions<Options extends object, const Fields extends FieldsOf<Options>>(
  option: string,
  given: Options | undefined,
  fields: Fields,
): ReadAs<Fields> {
  if (given !== undefined) checkObject(option, given, Object.keys(fields))
  return readFields(`${option}.`, given ?? ({} as Options), fields)
}

/** `owner` is what stands before each name: empty, or `retry.`. `undefined` keeps the default. */
export function readFields<const Fields extends { readonly [name: string]: Field }>(
  owner: string,
  given: { readonly [Name in keyof Fields]?: unknown },
  fields: Fields,
): ReadAs<Fields> {
  const read: Record<string, unknown> = {}
  for (const [name, [fallback, check]] of Object.entries(fields)) {
    const value = given[name]
    read[name] = value === undefined ? fallback : check(owner + name, value as never)
  }
  return read as ReadAs<Fields>
}

import { ConfigurationError, StorageError } from '../errors/classes.ts'

/** Longer names are cut off by Postgres without a word, and two of them may become the same. */
const LONGEST_NAME_BYTES = 63

/** The name of a schema, as it may stand in a statement. */
export function quotedSchema(name: unknown): string {
  const isName = typeof name === 'string' && name !== '' && !name.includes('\0')
  if (!isName || new TextEncoder().encode(name).length > LONGEST_NAME_BYTES) {
    throw new ConfigurationError(`The option \`schema\` is a name of 1 to ${LONGEST_NAME_BYTES} bytes`)
  }
  if (/^pg_/.test(name)) throw new ConfigurationError('The option `schema` must not begin with pg_: those are reserved')
  return `"${name.replace(/"/g, '""')}"`
}

/**
 * For every function: without it, names in its body are those of the caller's `search_path`. A role that may create in a schema
 * on that path could put a function or an operator of its own in the place of one of Postgres whose arguments fit less well.
 */
export const OWN_PATH = 'SET search_path = pg_catalog, pg_temp'

/*
 * Literals, for the places where several statements travel together, or where no parameters can. They mean the same
 * whatever `standard_conforming_strings` is on the connection of the caller's.
 */

/** A text as it may stand in a statement. */
export function literal(text: string): string {
  if (text.includes('\0')) throw new StorageError('Postgres keeps no text with a NUL character')
  const quoted = `'${text.replace(/'/g, "''")}'`
  return text.includes('\\') ? `E${quoted.replace(/\\/g, '\\\\')}` : quoted
}

/** Bytes as they may stand in a statement. */
export function bytesLiteral({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return `decode('${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}', 'hex')`
}

/**
 * Is this the URL of a Postgres, some other URL, or no URL at all? A URL that is taken for the path of a file would become
 * a folder, with the password in its name.
 */
export function databaseUrlKind(text: string): 'postgres' | 'other' | undefined {
  const [, scheme] = /^\s*([a-z][a-z\d+.-]+):\/\//i.exec(text) ?? []
  if (scheme === undefined) return undefined
  return /^postgres(ql)?$/i.test(scheme) ? 'postgres' : 'other'
}

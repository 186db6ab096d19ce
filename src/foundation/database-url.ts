/**
 * Is this the URL of a Postgres, some other URL, or no URL at all? A URL that is taken for the path of a file would become
 * a folder, with the password in its name.
 */
export function databaseUrlKind(text: string): 'postgres' | 'other' | undefined {
  if (/^\s*postgres(ql)?:\/\//i.test(text)) return 'postgres'
  // A Postgres URL without its slashes still has a password in it.
  return /^\s*([a-z][a-z\d+.-]+:\/\/|postgres(ql)?:)/i.test(text) ? 'other' : undefined
}

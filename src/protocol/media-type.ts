export interface MediaType {
  /** `application/json`: lower case, without parameters; empty where none was said. */
  readonly essence: string
  /** Names in lower case. Where one is said twice, the first counts. */
  readonly parameters: ReadonlyMap<string, string>
}

/** A parameter as a token or a quoted string. Blanks around the signs are not allowed, but servers send them. */
const PARAMETER = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g

/** What a Content-Type says. Never fails: what can't be read is left out. */
export function parseMediaType(value: string | undefined): MediaType {
  const text = value ?? ''
  const [essence = ''] = text.split(';', 1)
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, token = ''] of text.matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token)
  }
  return { essence: essence.trim().toLowerCase(), parameters }
}

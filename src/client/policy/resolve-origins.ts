import { refuseOption } from '../../configuration/option-checks.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import { redactUrl } from '../../observe/redact.ts'

/** In a page a path will do, and nothing at all means its origin. */
export function resolveBaseUrl(given: unknown, pageOrigin: string | undefined): URL | undefined {
  const page = pageOrigin?.startsWith('http') ? pageOrigin : undefined
  if (given === undefined) return page === undefined ? undefined : new URL(page)
  const isPath = page !== undefined && typeof given === 'string' && /^\/(?![\\/])/.test(given)
  const url = checkHttpUrl('baseUrl', isPath ? page + given : given, 'a full http or https URL')
  if (url.search !== '' || url.hash !== '') refuseOption('baseUrl', 'without a query or fragment', shown(given))
  return url
}

export function checkOrigins(option: string, value: unknown): ReadonlySet<string> {
  if (!Array.isArray(value)) return refuseOption(option, 'an array of origins', value)
  return new Set(value.map((origin) => checkOrigin(option, origin)))
}

function checkOrigin(option: string, value: unknown): string {
  const expected = "made of origins such as 'https://api.example.com', without a path"
  const url = checkHttpUrl(option, value, expected)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') refuseOption(option, expected, shown(value))
  if (url.hostname.includes('*')) refuseOption(option, 'made of origins without a wildcard', shown(value))
  return url.origin
}

function checkHttpUrl(option: string, value: unknown, expected: string): URL {
  const url = typeof value === 'string' || value instanceof URL ? parseUrl(value) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return refuseOption(option, expected, shown(value))
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError(`The option \`${option}\` must not carry credentials; put them into \`headers\`.`)
  }
  return url
}

/** Always a copy: the caller's own URL object may change later. */
function parseUrl(value: string | URL): URL | undefined {
  try {
    return new URL(value)
  } catch {
    return undefined
  }
}

function shown(value: unknown): unknown {
  return typeof value === 'string' || value instanceof URL ? redactUrl(String(value)) : value
}

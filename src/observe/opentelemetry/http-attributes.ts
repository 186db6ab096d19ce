import type { Attributes } from '@opentelemetry/api'

/* Names and values of the semantic conventions for HTTP. No attribute carries a body, a header or the value of a query parameter. */

const KNOWN_METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])

/** `_OTHER` for methods that are not registered: a metric must not get a series for each of them. */
export function methodAttributes(method: string): Attributes {
  if (KNOWN_METHODS.has(method)) return { 'http.request.method': method }
  return { 'http.request.method': '_OTHER', 'http.request.method_original': method }
}

/** The name of a span for one request: its method alone, since a path may have a number of values without end. */
export function requestSpanName(method: string): string {
  return KNOWN_METHODS.has(method) ? method : 'HTTP'
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

export function serverAttributes(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url)
  const number = port === '' ? DEFAULT_PORTS[protocol] : Number(port)
  return { 'server.address': hostname, ...(number === undefined ? {} : { 'server.port': number }) }
}

/** Without user info and fragment, and with each value of the query replaced. */
export function urlAttributes(url: string): Attributes {
  const { origin, pathname, searchParams } = new URL(url)
  const names = [...searchParams.keys()].map((name) => `${encodeURIComponent(name)}=REDACTED`)
  return { 'url.full': `${origin}${pathname}${names.length > 0 ? `?${names.join('&')}` : ''}` }
}

/** How an attempt ended: a status from 400 on, and a fault, are errors. */
export function outcomeAttributes({ status, fault }: { status?: number | undefined; fault?: string | undefined }) {
  const error = fault ?? (status !== undefined && status >= 400 ? String(status) : undefined)
  return {
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
    ...(error === undefined ? {} : { 'error.type': error }),
  }
}

/** Where the page is: `#/operations?status=failed&open=<key>`. Going back in the browser goes back here. */
export interface Route {
  readonly view: 'operations' | 'origins' | 'ledger'
  readonly query: URLSearchParams
}

const VIEWS: readonly string[] = ['operations', 'origins', 'ledger']

/** Undefined where the hash names no view. */
export function parseRoute(hash: string): Route | undefined {
  const [, view = '', query = ''] = /^#\/(\w+)(?:\?(.*))?$/.exec(hash) ?? []
  return VIEWS.includes(view) ? { view: view as Route['view'], query: new URLSearchParams(query) } : undefined
}

/** A link to the same view with some parameters changed; an empty one goes. */
export function linkTo(route: Route, changes: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams(route.query)
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const text = query.toString()
  return `#/${route.view}${text === '' ? '' : `?${text}`}`
}

export function parameter(route: Route, name: string): string {
  return route.query.get(name) ?? ''
}

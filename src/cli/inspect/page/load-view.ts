import type { EntriesPage, EntryDetail, OperationDetail, OperationsPage, OriginsPage, Overview } from '../wire.ts'
import type { Api } from './api.ts'
import { parameter, type Route } from './route.ts'

/** What a view shows, as it was when it was asked for. */
export interface Loaded {
  readonly route: Route
  readonly overview: Overview
  readonly operations?: OperationsPage | undefined
  readonly operation?: OperationDetail | undefined
  readonly origins?: OriginsPage | undefined
  readonly entries?: EntriesPage | undefined
  readonly entry?: EntryDetail | undefined
}

export async function loadView(api: Api, route: Route): Promise<Loaded> {
  const [overview, shown] = await Promise.all([api.get<Overview>('overview'), LOADERS[route.view](api, route)])
  if (!overview) throw new Error('The inspector does not answer.')
  return { route, overview, ...shown }
}

type Loader = (api: Api, route: Route) => Promise<Partial<Loaded>>

const LOADERS: Readonly<Record<Route['view'], Loader>> = {
  async operations(api, route) {
    const key = parameter(route, 'open')
    const query = some(route, ['status', 'text', 'age', 'before'])
    const [operations, operation] = await Promise.all([
      api.get<OperationsPage>('operations', query),
      key === '' ? undefined : api.get<OperationDetail>('operation', { key }),
    ])
    return { operations, operation }
  },
  async origins(api) {
    return { origins: await api.get<OriginsPage>('origins') }
  },
  async ledger(api, route) {
    const key = parameter(route, 'open')
    const query = some(route, ['state', 'scope', 'afterScope', 'afterKey', 'afterAt'])
    const [entries, entry] = await Promise.all([
      api.get<EntriesPage>('entries', query),
      key === '' ? undefined : api.get<EntryDetail>('entry', { key, scope: parameter(route, 'openScope') }),
    ])
    return { entries, entry }
  },
}

function some(route: Route, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, parameter(route, name)]))
}

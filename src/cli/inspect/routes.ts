import type { Client } from '../../client/client.ts'
import type { Engine } from '../../client/engine/engine.ts'
import { cancelOperation, type Resolution, ResumePass, resolveEntry, retryOperation } from './changes.ts'
import { entryDetail, type InspectedLedger, ledgerOverview, listEntries } from './entry-views.ts'
import { COUNTED_TO, OperationList } from './operation-list.ts'
import { operationBody, operationDetail } from './operation-views.ts'
import { OriginList } from './origin-list.ts'
import { type IsSecret, shownBody } from './shown-body.ts'
import type { EntryState, Overview, Status } from './wire.ts'

/** What the inspector looks at. */
export interface Inspected {
  readonly client: { readonly surface: Client; readonly engine: Engine } | undefined
  readonly ledger: InspectedLedger | undefined
  readonly readOnly: boolean
  readonly isSecret: IsSecret
}

/** The value that is answered as JSON; undefined: there is no such thing. */
type Route = (query: URLSearchParams, body: Readonly<Record<string, unknown>>) => unknown

/** `GET /api/…` and `POST /api/…`. */
export function routesOf(inspected: Inspected): ReadonlyMap<string, Route> {
  const { client, ledger } = inspected
  const list = client && new OperationList(client.engine)
  const pass = client && new ResumePass(client.surface)
  const overview = async (): Promise<Overview> => ({
    ...(client && list && pass && { operations: await operationsOverview(client.engine, list, pass) }),
    ...(ledger && { ledger: await ledgerOverview(ledger) }),
    readOnly: inspected.readOnly,
  })
  const routes = new Map<string, Route>([['GET /api/overview', overview]])
  if (client && list && pass) addOperationRoutes(routes, inspected, { ...client, list, pass })
  if (ledger) addLedgerRoutes(routes, ledger, inspected.isSecret)
  return routes
}

async function operationsOverview({ options }: Engine, list: OperationList, pass: ResumePass) {
  return {
    namespace: options.namespace,
    counts: await list.counts(),
    countedTo: COUNTED_TO,
    resuming: pass.isRunning,
    lastResume: pass.lastReport,
  }
}

interface OperationParts {
  readonly surface: Client
  readonly engine: Engine
  readonly list: OperationList
  readonly pass: ResumePass
}

function addOperationRoutes(routes: Map<string, Route>, { isSecret }: Inspected, parts: OperationParts): void {
  const { surface, engine, list, pass } = parts
  routes.set('GET /api/operations', (query) =>
    list.page({
      status: (textOf(query, 'status') || undefined) as Status | undefined,
      text: textOf(query, 'text'),
      age: textOf(query, 'age'),
      before: numberOf(query, 'before'),
    }),
  )
  routes.set('GET /api/operation', (query) => operationDetail(engine, textOf(query, 'key'), isSecret))
  routes.set('GET /api/operation-body', (query) =>
    operationBody(engine, { key: textOf(query, 'key'), part: textOf(query, 'part') }, isSecret),
  )
  const origins = new OriginList(engine)
  routes.set('GET /api/origins', () => origins.page())
  const change = (work: (key: string) => unknown): Route => {
    return async (_, { key }) => {
      const changed = typeof key === 'string' ? await work(key) : undefined
      list.forgetCounts()
      return changed
    }
  }
  routes.set(
    'POST /api/cancel',
    change((key) => cancelOperation(surface, key)),
  )
  routes.set(
    'POST /api/retry',
    change((key) => retryOperation(surface, key)),
  )
  routes.set('POST /api/resume', () => pass.start())
}

function addLedgerRoutes(routes: Map<string, Route>, ledger: InspectedLedger, isSecret: IsSecret): void {
  const found = (query: URLSearchParams) => ledger.find(textOf(query, 'scope'), textOf(query, 'key'))
  routes.set('GET /api/entries', (query) => {
    const createdAt = numberOf(query, 'afterAt')
    const after = { scope: textOf(query, 'afterScope'), key: textOf(query, 'afterKey'), createdAt: createdAt ?? 0 }
    return listEntries(ledger, {
      state: (textOf(query, 'state') || undefined) as EntryState | undefined,
      scope: textOf(query, 'scope') || undefined,
      after: createdAt === undefined ? undefined : after,
    })
  })
  routes.set('GET /api/entry', async (query) => {
    const entry = await found(query)
    return entry && entryDetail(entry, ledger)
  })
  routes.set('GET /api/entry-body', async (query) => {
    const answer = (await found(query))?.answer
    return answer ? shownBody(answer, isSecret) : undefined
  })
  routes.set('POST /api/resolve', (_, { scope, key, resolution }) => {
    if (typeof scope !== 'string' || typeof key !== 'string' || !isResolution(resolution)) return undefined
    return resolveEntry(ledger, { scope, key }, resolution)
  })
}

function isResolution(value: unknown): value is Resolution {
  if (value === 'rerun') return true
  if (typeof value !== 'object' || value === null) return false
  const { status, body } = value as { readonly status?: unknown; readonly body?: unknown }
  return Number.isInteger(status) && typeof body === 'string'
}

function textOf(query: URLSearchParams, name: string): string {
  return query.get(name) ?? ''
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  const value = Number(text)
  return text && Number.isFinite(value) ? value : undefined
}

import type { Database } from './database.ts'

export interface JournalCounts {
  readonly operations: readonly { readonly namespace: string; readonly status: string; readonly count: number }[]
  /** Held by a runner whose lease has not ended. */
  readonly leased: number
  /** Settled, and not yet taken by their handlers. */
  readonly deliveryDue: number
  /** Can't be decoded, and were set aside by a resume. */
  readonly setAside: number
}

interface GroupRow {
  readonly namespace: string
  readonly status: string
  readonly count: number | string
  readonly leased: number | string
  readonly deliveryDue: number | string
  readonly setAside: number | string
}

/** Over all namespaces: no port counts rows without reading them. The empty namespace is that of what is known of origins. */
export async function readJournalCounts(database: Database): Promise<JournalCounts> {
  const now = await database.now()
  const isTrue = database.place.kind === 'sqlite' ? '= 1' : ''
  const rows = await database.rows<GroupRow>(`SELECT namespace, status, count(*) AS "count",
    sum(CASE WHEN owner IS NOT NULL AND lease_until > ${now} THEN 1 ELSE 0 END) AS "leased",
    sum(CASE WHEN delivery_due ${isTrue} THEN 1 ELSE 0 END) AS "deliveryDue",
    sum(CASE WHEN set_aside ${isTrue} THEN 1 ELSE 0 END) AS "setAside"
    FROM ${database.table('operations')} WHERE namespace <> '' GROUP BY namespace, status ORDER BY namespace, status`)
  const sum = (column: 'leased' | 'deliveryDue' | 'setAside'): number =>
    rows.reduce((total, row) => total + Number(row[column]), 0)
  return {
    operations: rows.map(({ namespace, status, count }) => ({ namespace, status, count: Number(count) })),
    leased: sum('leased'),
    deliveryDue: sum('deliveryDue'),
    setAside: sum('setAside'),
  }
}

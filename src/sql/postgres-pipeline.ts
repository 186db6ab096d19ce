import type { PostgresClient } from './postgres-driver.ts'

/** A statement with its parameters, which stand neither in `pg_stat_activity` nor in the server's log. */
export interface PipelinedStatement {
  readonly text: string
  readonly values?: readonly (string | number | boolean | Uint8Array | null)[] | undefined
}

export interface PipelinedResult {
  /** `SELECT`, `UPDATE`, `COMMIT`, … */
  readonly command: string
  readonly rowCount: number
  /** The first column of the last row, as text. */
  readonly value: string | null
}

/**
 * Several statements with parameters. A statement that fails keeps those behind it from being run, a COMMIT too. On a
 * client of pg they travel in one round trip; on one of another make each takes its own.
 */
export function queryTogether(
  client: PostgresClient,
  statements: readonly PipelinedStatement[],
): Promise<readonly PipelinedResult[]> {
  return takesPipelines(client)
    ? new Promise((...settle) => void client.query(new Pipeline(statements, settle)))
    : queryEach(client, statements)
}

async function queryEach(
  client: PostgresClient,
  statements: readonly PipelinedStatement[],
): Promise<readonly PipelinedResult[]> {
  const results: PipelinedResult[] = []
  for (const { text, values } of statements) {
    const { command, rowCount, rows } = await client.query(text, values?.map(bound))
    const [first = null] = Object.values((rows.at(-1) ?? {}) as object)
    results.push({ command, rowCount: rowCount ?? 0, value: first === null ? null : String(first) })
  }
  return results
}

/** The connection below a client of pg, as cursors and streams of rows use it. */
interface Wire {
  readonly stream?: { cork?(): void; uncork?(): void }
  parse(message: { readonly text: string }): void
  bind(message: { readonly values: readonly unknown[] }): void
  execute(message: object): void
  sync(): void
}

type PipelineClient = Omit<PostgresClient, 'query'> & { query(pipeline: Pipeline): unknown }

/** A client in pg's own pipeline mode takes no queries of other classes. */
function takesPipelines(client: object): client is PipelineClient {
  const { connection, pipeline } = client as { readonly connection?: Partial<Wire>; readonly pipeline?: unknown }
  return (
    pipeline !== true &&
    ['parse', 'bind', 'execute', 'sync'].every((name) => typeof connection?.[name as keyof Wire] === 'function')
  )
}

type Settle = [resolve: (results: readonly PipelinedResult[]) => void, reject: (error: unknown) => void]

/** A query in the sense of pg: `submit` sends it, and the client calls back with each message of the server. */
class Pipeline {
  /** What traces and logs of the application show. */
  readonly text: string
  /** Set by the client if it has a timeout for queries. */
  callback: (error?: unknown, results?: readonly PipelinedResult[]) => void
  readonly #statements: readonly PipelinedStatement[]
  readonly #results: PipelinedResult[] = []
  #value: string | null = null

  constructor(statements: readonly PipelinedStatement[], [resolve, reject]: Settle) {
    this.#statements = statements
    this.text = statements.map(({ text }) => text).join('; ')
    this.callback = (error, results) => (error ? reject(error) : resolve(results ?? []))
  }

  submit(wire: Wire): null {
    wire.stream?.cork?.()
    try {
      for (const { text, values = [] } of this.#statements) {
        wire.parse({ text })
        wire.bind({ values: values.map(bound) })
        wire.execute({})
      }
      // One for all: the server skips what comes after a failure.
      wire.sync()
    } finally {
      wire.stream?.uncork?.()
    }
    return null
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#value = fields[0] ?? null
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const words = text.split(' ')
    this.#results.push({ command: words[0] ?? '', rowCount: Number(words.at(-1)) || 0, value: this.#value })
    this.#value = null
  }

  handleReadyForQuery(): void {
    this.callback(undefined, this.#results)
  }

  handleError(error: unknown): void {
    this.callback(error)
  }

  handleParseComplete(): void {}
  handleRowDescription(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

/** As pg sends a value: text, bytes or null. */
function bound(value: NonNullable<PipelinedStatement['values']>[number]): string | Buffer | null {
  if (value === null) return null
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : String(value)
}

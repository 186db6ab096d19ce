import { type PostgresClient, queryAll } from './postgres-driver.ts'
import { type PipelinedStatement, queryTogether } from './postgres-pipeline.ts'
import { bytesLiteral, literal } from './postgres-text.ts'

/** The caller's transaction: a client of pg, or the transaction of a library that stands between. */
export interface StatementRunner {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>
}

type Rows = Awaited<ReturnType<StatementRunner['query']>>

/** The rows of each. In one round trip on a client of pg; a library may take one statement per call only. */
export async function runStatements(runner: StatementRunner, statements: readonly string[]): Promise<readonly Rows[]> {
  if (isClient(runner)) return queryAll(runner, statements.join('; '))
  const results: Rows[] = []
  for (const statement of statements) results.push(await runner.query(statement).catch(rethrowWithCode))
  return results
}

/** On a client of pg with parameters. A library may take text only: there the values are literals. */
export async function runWithValues(runner: StatementRunner, statements: readonly PipelinedStatement[]): Promise<void> {
  if (isClient(runner)) await queryTogether(runner, statements)
  else await runStatements(runner, statements.map(inlined))
}

/** The name of a schema may contain a dollar sign; a statement without values may have literals that do. */
function inlined({ text, values }: PipelinedStatement): string {
  if (!values) return text
  return text.replace(/"[^"]*"|\$(\d+)/g, (found, at?: string) =>
    at === undefined ? found : inlinedValue(values[Number(at) - 1] ?? null),
  )
}

function inlinedValue(value: NonNullable<PipelinedStatement['values']>[number]): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return literal(value)
  return value instanceof Uint8Array ? bytesLiteral(value) : String(value)
}

/** Every client of pg is an emitter of events. */
function isClient(runner: StatementRunner): runner is PostgresClient {
  return typeof (runner as Partial<PostgresClient>).on === 'function'
}

/** Libraries throw an error of their own; whether the work has ended its transaction shows in the driver's code. */
function rethrowWithCode(cause: unknown): never {
  const code = innermostCode(cause)
  if (code === undefined || !(cause instanceof Error)) throw cause
  throw Object.assign(new Error(cause.message, { cause }), { code })
}

interface ErrorLayer {
  readonly code?: unknown
  /** Where Drizzle keeps the driver's error. */
  readonly cause?: unknown
  /** Where Prisma keeps it: with the code itself, or with the error of its adapter. */
  readonly meta?: unknown
  readonly driverAdapterError?: unknown
  readonly originalCode?: unknown
}

function innermostCode(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, cause, meta, driverAdapterError, originalCode } = error as ErrorLayer
  return innermostCode(driverAdapterError ?? meta ?? cause) ?? originalCode ?? code
}

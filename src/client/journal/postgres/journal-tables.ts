import type { PostgresSchema } from '../../../sql/postgres-migrate.ts'
import { quotedSchema } from '../../../sql/postgres-text.ts'
import { budgetTable } from './budget-table.ts'
import { eachFunction } from './each-function.ts'
import { journalFunction } from './journal-function.ts'

/** The names of the tables and of the function, quoted and with their schema. */
export interface JournalTables {
  readonly operations: string
  /** Of `sharedBudget`. */
  readonly budgets: string
  /** Runs a batch of commands: see `journal-function.ts`. */
  readonly runBatch: string
  /** Runs each command of a batch on its own: see `each-function.ts`. */
  readonly runEach: string
  readonly schema: PostgresSchema
  /** What is written has to be on a standby too. */
  readonly requiresStandby: boolean
}

interface Required {
  readonly requireSynchronousStandby?: boolean | undefined
}

export function journalTables(name: string, { requireSynchronousStandby = false }: Required = {}): JournalTables {
  const quotedName = quotedSchema(name)
  const operations = `${quotedName}.holdfast_operations`
  const runBatch = `${quotedName}.holdfast_journal_v1`
  const budgets = `${quotedName}.holdfast_budgets`
  const runEach = `${quotedName}.holdfast_journal_each_v1`
  const steps = [
    `${firstTable(operations)};${journalFunction({ operations, runBatch })}`,
    budgetTable(budgets),
    eachFunction({ runBatch, runEach }),
    // Since it drops the bodies of requests, and lists settlements that no handler has taken. What it takes and gives is otherwise
    // the same, so that older libraries go on with it.
    journalFunction({ operations, runBatch }),
    // Since a claim names the origins that its client may send to, and the names whose handlers are busy.
    journalFunction({ operations, runBatch }),
    // Since both have a search path of their own, a batch may insist on a standby, and a sequence behind its rows is told apart.
    `${journalFunction({ operations, runBatch })};${eachFunction({ runBatch, runEach })}`,
  ]
  return {
    operations,
    budgets,
    runBatch,
    runEach,
    requiresStandby: requireSynchronousStandby,
    schema: { component: 'journal', name, quotedName, steps, oldest: 1 },
  }
}

/**
 * Times are epoch milliseconds of the database's clock, 0 where there is none. Bodies are bytea and `head` is text: jsonb
 * would change spaces, order and numbers.
 *
 * `waiting_place` is the row's place while it is open and no runner holds it: pending, or awaiting delivery. `held_place`
 * is its place while a runner does. Claims and surveys read their partial indexes, so that settled rows cost them nothing
 * however many are kept, and no other index has the order that they ask for: the planner cannot walk through settled
 * rows by mistake.
 *
 * `due_kind` is all that decides whether a filter wants a waiting row, and `waiting_at` when it is due: a survey reads the
 * first row of each kind, and a claim those that are due, however many wait. Rows with a lane have no kind: whether one is
 * due depends on others. A hash, because an index takes no text of any length.
 *
 * `claim` names the claim that took the row last: one whose answer was lost finds its rows by it.
 *
 * `lane_place` is the row's place while it holds its lane: the first of a lane is found by its partial index.
 *
 * No index has a column that changes while a runner holds the row. Renewals and attempts are updated in place (HOT),
 * without a write to any index, and pages keep room for them; so are all writes to an operation that was not left to a
 * resume, up to its settlement. There is no CHECK: Postgres reads and plans such an expression anew with every statement.
 */
function firstTable(operations: string): string {
  return `
CREATE TABLE ${operations} (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  held_place bigint GENERATED ALWAYS AS (CASE WHEN owner IS NOT NULL THEN place END) STORED,
  waiting_place bigint GENERATED ALWAYS AS (CASE WHEN ${WAITS} THEN place END) STORED,
  waiting_at bigint GENERATED ALWAYS AS (
    CASE WHEN ${WAITS} THEN greatest(due_at, CASE WHEN status = 'pending' THEN not_before END) END) STORED,
  due_kind uuid GENERATED ALWAYS AS (CASE WHEN ${WAITS} AND NOT set_aside AND lane_until IS NULL THEN
    md5(version || CASE WHEN status = 'pending' THEN ' to ' || origin ELSE coalesce(' of ' || name, '') END)::uuid END) STORED,
  lane_place bigint GENERATED ALWAYS AS (CASE WHEN lane_until IS NOT NULL THEN place END) STORED,
  epoch bigint NOT NULL,
  lease_until bigint NOT NULL,
  due_at bigint NOT NULL,
  not_before bigint NOT NULL,
  lane_until bigint,
  expires_at bigint,
  version integer NOT NULL,
  delivery_due boolean NOT NULL,
  set_aside boolean NOT NULL DEFAULT false,
  status text NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  id text COLLATE "C",
  name text COLLATE "C",
  lane text COLLATE "C",
  origin text COLLATE "C" NOT NULL,
  owner text COLLATE "C",
  claim uuid,
  head text NOT NULL,
  body bytea,
  response_body bytea
) WITH (fillfactor = 70, ${VACUUM});
CREATE UNIQUE INDEX holdfast_operations_key ON ${operations} (namespace, key);
CREATE UNIQUE INDEX holdfast_operations_id ON ${operations} (namespace, id) WHERE id IS NOT NULL;
CREATE INDEX holdfast_operations_held ON ${operations} (namespace, held_place) WHERE held_place IS NOT NULL;
CREATE INDEX holdfast_operations_waiting ON ${operations} (namespace, waiting_place) WHERE waiting_place IS NOT NULL;
CREATE INDEX holdfast_operations_due ON ${operations} (namespace, due_kind, waiting_at) WHERE due_kind IS NOT NULL;
CREATE INDEX holdfast_operations_lane ON ${operations} (namespace, lane, lane_place) WHERE lane_place IS NOT NULL;
CREATE INDEX holdfast_operations_expiry ON ${operations} (expires_at) WHERE expires_at IS NOT NULL`
}

const WAITS = `owner IS NULL AND (status = 'pending' OR delivery_due)`

/**
 * Every row is deleted in the end, most within minutes: with a fifth of the table as the threshold, vacuum comes too late,
 * and surveys read through dead entries of the index of open rows.
 */
const VACUUM = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_limit = 2000`

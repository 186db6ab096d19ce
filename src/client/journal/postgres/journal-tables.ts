import type { PostgresSchema } from '../../../sql/postgres-migrate.ts'
import { quotedSchema } from '../../../sql/postgres-text.ts'
import { budgetTable } from './budget-table.ts'
import { journalFunction } from './journal-function.ts'

/** The names of the tables and of the function, quoted and with their schema. */
export interface JournalTables {
  readonly operations: string
  /** Of `sharedBudget`. */
  readonly budgets: string
  /** Runs a batch of commands: see `journal-function.ts`. */
  readonly runBatch: string
  readonly schema: PostgresSchema
}

export function journalTables(name: string): JournalTables {
  const quotedName = quotedSchema(name)
  const operations = `${quotedName}.holdfast_operations`
  const runBatch = `${quotedName}.holdfast_journal_v1`
  const budgets = `${quotedName}.holdfast_budgets`
  const steps = [`${firstTable(operations)};${journalFunction({ operations, runBatch })}`, budgetTable(budgets)]
  return { operations, budgets, runBatch, schema: { component: 'journal', name, quotedName, steps, oldest: 1 } }
}

/**
 * Times are epoch milliseconds of the database's clock, 0 where there is none. Bodies are bytea and `head` is text: jsonb
 * would change spaces, order and numbers.
 *
 * `open_place` is the row's place while it is open: pending, awaiting delivery, or held. Claims and surveys read its
 * partial index, so that settled rows cost them nothing however many are kept, and no other index has the order that they
 * ask for: the planner cannot walk through settled rows by mistake.
 *
 * `lane_place` is the row's place while it holds its lane: the first of a lane is found by its partial index.
 *
 * No index has a column that changes while an operation runs. Claims, renewals and attempts are updated in place (HOT),
 * without a write to any index, and pages keep room for them. The price is that both are stored, and that due
 * times have no index: a survey reads every open row of its namespace. There is no CHECK: Postgres reads and plans such an
 * expression anew with every statement.
 */
function firstTable(operations: string): string {
  return `
CREATE TABLE ${operations} (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  open_place bigint GENERATED ALWAYS AS (
    CASE WHEN status = 'pending' OR delivery_due OR owner IS NOT NULL THEN place END) STORED,
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
  head text NOT NULL,
  body bytea,
  response_body bytea
) WITH (fillfactor = 70, ${VACUUM});
CREATE UNIQUE INDEX holdfast_operations_key ON ${operations} (namespace, key);
CREATE UNIQUE INDEX holdfast_operations_id ON ${operations} (namespace, id) WHERE id IS NOT NULL;
CREATE INDEX holdfast_operations_open ON ${operations} (namespace, open_place) WHERE open_place IS NOT NULL;
CREATE INDEX holdfast_operations_lane ON ${operations} (namespace, lane, lane_place) WHERE lane_place IS NOT NULL;
CREATE INDEX holdfast_operations_expiry ON ${operations} (expires_at) WHERE expires_at IS NOT NULL`
}

/**
 * Every row is deleted in the end, most within minutes: with a fifth of the table as the threshold, vacuum comes too late,
 * and surveys read through dead entries of the index of open rows.
 */
const VACUUM = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_limit = 2000`

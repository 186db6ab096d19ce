/**
 * The tokens that all processes have together for an origin, up to when the way back to rest is counted (epoch
 * milliseconds of the database's clock), and how many the last statement was granted.
 *
 * UNLOGGED: a level only saves a server some requests. It is written without WAL and without waiting for the disk or a standby; after
 * a crash of the database, or a failover, the table is empty, and the next process to retry begins the row with its own level.
 */
export function budgetTable(budgets: string): string {
  return `
CREATE UNLOGGED TABLE ${budgets} (
  origin text COLLATE "C" PRIMARY KEY,
  tokens double precision NOT NULL,
  at double precision NOT NULL,
  granted integer NOT NULL
) WITH (fillfactor = 50)`
}

/** Every value has the type that its operator has: the statement runs on the caller's `search_path`. */
const NOW = '(extract(epoch FROM clock_timestamp())::float8 * 1000::float8)'

/** Ten times a tenth is a token, whatever floating point makes of it. */
const TAKEN = 'least($7::integer, floor(level + 1e-9::float8)::integer)'

/**
 * $1 origin, $2 the level of the caller's own bucket, $3 burst, $4 rest, $5 reserve per second, $6 what successes have earned, $7 how
 * many tokens are asked for. The row begins with the level of the first caller's own bucket. Time leads up to rest and never down from
 * above: processes that are well report nothing, and a full bucket stays full.
 */
export function exchangeText(budgets: string): string {
  return `
INSERT INTO ${budgets} AS b (origin, tokens, at, granted)
SELECT $1, level - (${TAKEN})::float8, ${NOW}, ${TAKEN} FROM (SELECT least($2::float8, $3::float8) AS level) first
ON CONFLICT (origin) DO UPDATE SET (tokens, at, granted) = (
  SELECT level - (${TAKEN})::float8, now_at, ${TAKEN} FROM (
    SELECT now_at, least($3::float8, $6::float8 + greatest(b.tokens,
      least($4::float8, b.tokens + greatest(0::float8, now_at - b.at) / 1000::float8 * $5::float8))) AS level
    FROM (SELECT ${NOW} AS now_at) clock) paid_in)
RETURNING granted, tokens`
}

/** A row that no process has asked about for so long says no more than a new start would. */
export const LEVEL_LASTS_MS = 300_000

export function pruneText(budgets: string): string {
  return `DELETE FROM ${budgets} WHERE at < ${NOW} - ${LEVEL_LASTS_MS}::float8`
}

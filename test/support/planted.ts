import type { PostgresScene } from './postgres.ts'

const TYPES = 'smallint integer bigint numeric float8 text jsonb interval timestamptz uuid'.split(' ')
const OPERATORS = '= <> < <= > >= + - * / || -> ->> ?'.split(' ')
const COMPARISONS = ['=', '<>', '<', '<=', '>', '>=', '?']
/** What the library calls with arguments that could fit another function better. */
const FUNCTIONS = `hashtext hashtextextended floor chr md5 btrim concat_ws encode decode array_agg cardinality
  pg_advisory_xact_lock pg_try_advisory_xact_lock txid_status jsonb_build_array jsonb_array_length`.split(/\s+/)

/**
 * What a role could plant that may create in a schema on the search path of others: every operator and function on these types
 * that Postgres does not have with exactly them, and so takes before its own. Each of them fails when it is called.
 */
export async function plant(scene: PostgresScene, schema: string): Promise<void> {
  await scene.query(`CREATE SCHEMA ${schema}`)
  const values = (names: readonly string[]): string => `ARRAY['${names.join("', '")}']`
  await scene.query(`DO $do$
    DECLARE l text; r text; op text; f text; gives text;
    BEGIN
      FOREACH l IN ARRAY ${values(TYPES)} LOOP
        FOREACH f IN ARRAY ${values(FUNCTIONS)} LOOP
          IF to_regprocedure(format('pg_catalog.%s(%s)', f, l)) IS NULL THEN
            EXECUTE format($$CREATE FUNCTION ${schema}.%s(%s) RETURNS bigint LANGUAGE plpgsql AS
              'BEGIN RAISE EXCEPTION ''planted: %s(%s)''; END'$$, f, l, f, l);
          END IF;
        END LOOP;
        FOREACH r IN ARRAY ${values(TYPES)} LOOP
          FOREACH f IN ARRAY ${values(FUNCTIONS)} LOOP
            CONTINUE WHEN to_regprocedure(format('pg_catalog.%s(%s,%s)', f, l, r)) IS NOT NULL;
            EXECUTE format($$CREATE FUNCTION ${schema}.%s(%s, %s) RETURNS bigint LANGUAGE plpgsql AS
              'BEGIN RAISE EXCEPTION ''planted: %s(%s, %s)''; END'$$, f, l, r, f, l, r);
          END LOOP;
          FOREACH op IN ARRAY ${values(OPERATORS)} LOOP
            CONTINUE WHEN to_regoperator(format('pg_catalog.%s(%s,%s)', op, l, r)) IS NOT NULL;
            gives := CASE WHEN op = ANY (${values(COMPARISONS)}) THEN 'boolean' ELSE l END;
            f := 'trap_' || md5(op || l || r);
            EXECUTE format($$CREATE FUNCTION ${schema}.%s(%s, %s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS
              'BEGIN RAISE EXCEPTION ''planted: %s %s %s''; END'$$, f, l, r, gives, l, op, r);
            EXECUTE format('CREATE OPERATOR ${schema}.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = ${schema}.%s)', op, l, r, f);
          END LOOP;
        END LOOP;
      END LOOP;
    END $do$`)
}

import { CompiledQuery, sql, type Kysely } from "kysely";
import type { Database } from "../database.ts";
import type { Schema } from "../tables/schema.ts";
import { PARTITION_COLUMN, buildRelationName, REST } from "../schema/log-partitions.ts";

export interface Partition {
  readonly name: string;
  /**
   * Its rows are older than this (epoch seconds); the last partition takes all later rows. The first has no lower
   * bound.
   */
  readonly before: number;
}

/** Thrown because moving so many rows would block the writers for too long. */
export class TooManyRowsError extends Error {
  override readonly name = "TooManyRowsError";
}

const DAY = 86_400;
/** Limits the wait for a lock, because a pending change of a table blocks every new statement on it. */
const LOCK_WAIT_SECONDS = 2;

/** Returns the partitions in the order of time; none if `logs` is one table. */
export async function readPartitions(database: Database, table = "logs"): Promise<Partition[]> {
  if (database.kind === "sqlite") return [];
  const rows = await (database.kind === "mysql" ? mysqlPartitions : postgresPartitions)(database, table);
  return rows.toSorted((a, b) => a.before - b.before);
}

async function mysqlPartitions({ raw }: Database, table: string): Promise<Partition[]> {
  const text = `select partition_name as name, partition_description as bound from information_schema.partitions
    where table_schema = database() and table_name = ? and partition_name is not null`;
  const rows = await raw.rows<{ name: string; bound: string }>(text, [table]);
  return rows.map(({ name, bound }) => ({ name, before: bound === "MAXVALUE" ? Infinity : Number(bound) }));
}

async function postgresPartitions({ raw }: Database, table: string): Promise<Partition[]> {
  const text = `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = cast(? as text)::regclass`;
  const rows = await raw.rows<{ name: string; bound: string }>(text, [table]);
  return rows.map(({ name, bound }) => {
    const [, end] = /TO \('?(\d+|MAXVALUE)'?\)/.exec(bound) ?? [];
    return { name: name.replace(/^logs_/, ""), before: end === "MAXVALUE" ? Infinity : Number(end) };
  });
}

/** Returns the upper bounds of partitions for these days and the days between them. */
export function daysBetween(from: number, to: number, step = DAY): number[] {
  const ends: number[] = [];
  for (let end = from - (from % DAY) + step; end - step <= to; end += step) ends.push(end);
  return ends;
}

export interface NewPartitions {
  readonly table?: string;
  /** Upper bounds of new partitions, in ascending order; bounds up to an existing one are skipped. */
  readonly ends: readonly number[];
  /** If the rest contains more rows than this, which would have to be moved, the call throws TooManyRowsError. */
  readonly maxMoved: number;
}

/** Divides the range above the last bound; returns how many partitions were created. */
export async function makePartitions(
  database: Database,
  { table = "logs", ends, maxMoved }: NewPartitions,
): Promise<number> {
  const known = await readPartitions(database, table);
  const last = known.findLast(({ before }) => before !== Infinity)?.before ?? 0;
  const wanted = ends.filter((end) => end > last);
  if (known.length === 0 || wanted.length === 0) return 0;
  await refuseMany(database, { table, from: last, most: maxMoved });
  const { db } = database;
  if (database.kind === "mysql")
    await withPatience(db, `alter table ${table} reorganize partition ${REST} into (${mysqlParts(wanted)})`);
  else await inOneStep(db, postgresSplit(table, last, wanted));
  return wanted.length;
}

async function refuseMany(
  { db }: Database,
  { table, from, most }: { readonly table: string; readonly from: number; readonly most: number },
): Promise<void> {
  if (most === Infinity) return;
  const some = sql`select 1 from ${sql.table(table)} where ${sql.ref(PARTITION_COLUMN)} >= ${from} limit ${sql.lit(most + 1)}`;
  const { rows } = await sql<{ count: number }>`select count(*) as count from (${some}) as limited`.execute(db);
  if (Number(rows[0]?.count ?? 0) > most)
    throw new TooManyRowsError(
      `more than ${most} rows of logs are in the partition ${REST}: run \`fairway-gateway logs partition\` at a quiet time`,
    );
}

function mysqlParts(ends: readonly number[]): string {
  const parts = ends.map((end) => `partition ${buildPartitionName(end)} values less than (${end})`);
  return [...parts, `partition ${REST} values less than maxvalue`].join(", ");
}

/**
 * Returns the statements of a split. The check constraint allows attaching the partition under other bounds later
 * without a scan.
 */
function postgresSplit(table: string, last: number, ends: readonly number[]): string[] {
  const rest = buildRelationName(REST);
  const statements = [
    `lock table only ${table} in access exclusive mode`,
    `alter table ${table} detach partition ${rest}`,
  ];
  let from = last === 0 ? "minvalue" : String(last);
  for (const end of ends) {
    const name = buildRelationName(buildPartitionName(end));
    statements.push(
      `create table ${name} partition of ${table} for values from (${from}) to (${end})`,
      `alter table ${name} add constraint ${name}_until check (${PARTITION_COLUMN} < ${end})`,
    );
    from = String(end);
  }
  return [
    ...statements,
    `with moved as (delete from ${rest} where ${PARTITION_COLUMN} < ${from} returning *) insert into ${table} select * from moved`,
    `alter table ${table} attach partition ${rest} for values from (${from}) to (maxvalue)`,
  ];
}

/** Returns the name of a partition: the last day that it contains. */
function buildPartitionName(end: number): string {
  return `p${new Date((end - 1) * 1_000).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** Removes the oldest partition with its rows; from then on, the next partition takes older rows. */
export async function dropOldest(database: Database): Promise<void> {
  const [oldest, next] = await readPartitions(database);
  if (!oldest || !next || next.before === Infinity) throw new Error("the newest partition of logs is not dropped");
  const { db } = database;
  if (database.kind === "mysql") return withPatience(db, `alter table logs drop partition ${oldest.name}`);
  const nextRelation = buildRelationName(next.name);
  await inOneStep(db, [
    "lock table only logs in access exclusive mode",
    `drop table ${buildRelationName(oldest.name)}`,
    `alter table logs detach partition ${nextRelation}`,
    `alter table logs attach partition ${nextRelation} for values from (minvalue) to (${next.before})`,
  ]);
}

/** Runs a statement with a limited wait for locks. MySQL commits each schema change separately. */
export function withPatience(db: Kysely<Schema>, statement: string): Promise<void> {
  return db.connection().execute(async (on) => {
    await command(on, `set session lock_wait_timeout = ${LOCK_WAIT_SECONDS}`);
    try {
      await command(on, statement);
    } finally {
      await command(on, "set session lock_wait_timeout = default");
    }
  });
}

/** Runs the statements, on PostgreSQL all or none. */
export async function inOneStep(db: Kysely<Schema>, statements: readonly string[]): Promise<void> {
  await db.transaction().execute(async (on) => {
    await command(on, `set local lock_timeout = '${LOCK_WAIT_SECONDS}s'`);
    for (const statement of statements) await command(on, statement);
  });
}

async function command(db: Kysely<Schema>, text: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(text));
}

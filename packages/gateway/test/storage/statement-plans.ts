import type { KyselyPlugin } from "kysely";
import type { Database } from "../../src/storage/database.ts";
import { numberPlaceholders } from "../../src/storage/engines/placeholders.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "../../src/storage/engines/raw.ts";

export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Servers keep its plan, made without its values. */
  readonly isPrepared: boolean;
}

/** Everything that it wraps runs as before. */
export interface Recorder {
  raw(database: RawDatabase): RawDatabase;
  wrapDatabase(database: Database): Database;
  /** Statements that read or changed rows of the big tables since the last call, each with its first values. Inserts have no plan. */
  take(): Statement[];
}

const BIG_TABLES = ["ledger", "logs"];
const OF_BIG_TABLES = new RegExp(String.raw`\b(?:from|join|update)\s+["\`]?(?:${BIG_TABLES.join("|")})\b`, "i");

export function recordStatements(): Recorder {
  const taken = new Map<string, Statement>();
  const record = (statement: Statement) => {
    if (OF_BIG_TABLES.test(statement.sql) && !taken.has(statement.sql)) taken.set(statement.sql, statement);
  };
  const on = (target: RawTransaction): RawTransaction => ({
    run(sql, values) {
      record({ sql, values, isPrepared: true });
      return target.run(sql, values);
    },
    rows(sql, values) {
      record({ sql, values, isPrepared: true });
      return target.rows(sql, values);
    },
  });
  const raw = (database: RawDatabase): RawDatabase => ({
    ...on(database),
    kind: database.kind,
    transaction: (work) => database.transaction((tx) => work(on(tx))),
  });
  return {
    raw,
    wrapDatabase: (database) => ({
      ...database,
      raw: raw(database.raw),
      db: database.db.withPlugin(pluginFor(database, record)),
    }),
    take() {
      const all = [...taken.values()];
      taken.clear();
      return all;
    },
  };
}

function pluginFor({ db }: Database, record: (statement: Statement) => void): KyselyPlugin {
  return {
    transformQuery({ node, queryId }) {
      const { sql, parameters } = db.getExecutor().compileQuery(node, queryId);
      record({ sql, values: parameters as readonly SqlValue[], isPrepared: false });
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
}

/** The statements that read all of a big table, or walk over an index of it in search of something, with why. */
export async function findScans(raw: RawDatabase, statements: readonly Statement[]): Promise<string[]> {
  const explain = raw.kind === "mysql" ? explainMysql : explainPostgres;
  const found: string[] = [];
  for (const statement of statements) {
    for (const scan of await explain(raw, statement)) found.push(`${scan}: ${statement.sql.slice(0, 300)}`);
  }
  return found;
}

interface MysqlStep {
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
  readonly rows: number | null;
}

/** An index that is read from its end on for some rows is no scan. */
const FEW_ROWS = 5_000;
/** The optimizer reads the partition of a day that has just begun whole, rather than an index of it. */
const SMALL_PARTITION = 100;

async function explainMysql(raw: RawDatabase, { sql, values }: Statement): Promise<string[]> {
  const steps = await raw.rows<MysqlStep>(`explain ${sql}`, values);
  return steps.flatMap(({ table, type, key, rows }) => {
    if (table === null || !BIG_TABLES.includes(table)) return [];
    const most = { ALL: SMALL_PARTITION, index: FEW_ROWS }[type ?? ""];
    const isScan = most !== undefined && (rows ?? most + 1) > most;
    return isScan ? [`${table} ${type} ${key ?? "without a key"}, ${rows} rows`] : [];
  });
}

interface PostgresNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PostgresNode[];
}

interface PostgresAnswer {
  readonly "QUERY PLAN": readonly { readonly Plan: PostgresNode }[];
}

async function explainPostgres(raw: RawDatabase, { sql, values, isPrepared }: Statement): Promise<string[]> {
  const answers = await raw.rows<PostgresAnswer>(`explain (format json) ${sql}`, values);
  if (isPrepared) answers.push(...(await explainPrepared(raw, sql)));
  const leading = await leadingColumns(raw);
  const all = answers.flatMap(({ "QUERY PLAN": plans }) =>
    plans.flatMap(({ Plan }) => scansBelow(Plan, false, leading)),
  );
  return withoutWholeDays(all, await filledPartitions(raw));
}

const SEQ_SCAN_OF_PARTITION = /^Seq Scan (logs_\w+)/;

/**
 * Reading a partition as a whole is right where it is nearly empty, and where the statement wants all of it, as for
 * rows from some id on. A statement without an index reads every partition.
 */
function withoutWholeDays(scans: readonly string[], filled: ReadonlySet<string>): string[] {
  const findPartition = (scan: string) => SEQ_SCAN_OF_PARTITION.exec(scan)?.[1];
  const read = new Set(scans.map(findPartition).filter((name) => name !== undefined && filled.has(name)));
  const isEvery = read.size > filled.size / 2;
  return scans.filter((scan) => findPartition(scan) === undefined || isEvery);
}

const NEARLY_EMPTY = 200;

async function filledPartitions(raw: RawDatabase): Promise<ReadonlySet<string>> {
  const sql = `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logs'::regclass and c.reltuples > ${NEARLY_EMPTY}`;
  return new Set((await raw.rows<{ name: string }>(sql, [])).map(({ name }) => name));
}

/** The first column of each index of the big tables. */
async function leadingColumns(raw: RawDatabase): Promise<ReadonlyMap<string, string>> {
  const sql = `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid, 1, true) as first
    from pg_index where indrelid in (${BIG_TABLES.map((table) => `'${table}'::regclass`).join(", ")})
      or indrelid in (select inhrelid from pg_inherits where inhparent = 'logs'::regclass)`;
  const rows = await raw.rows<{ name: string; first: string }>(sql, []);
  return new Map(rows.map(({ name, first }) => [name, first.replaceAll('"', "")]));
}

/** The plan that a connection keeps for a statement that it has run a few times. */
function explainPrepared(raw: RawDatabase, sql: string): Promise<PostgresAnswer[]> {
  const numbered = numberPlaceholders(sql);
  const nulls = (numbered.match(/\$\d+/g) ?? []).map(() => "null").join(", ");
  return raw.transaction(async (tx) => {
    await tx.run("set local plan_cache_mode = force_generic_plan", []);
    await tx.run(`prepare planned as ${numbered}`, []);
    const answers = await tx.rows<PostgresAnswer>(
      `explain (format json) execute planned${nulls === "" ? "" : `(${nulls})`}`,
      [],
    );
    await tx.run("deallocate planned", []);
    return answers;
  });
}

function scansBelow(node: PostgresNode, isLimited: boolean, leading: ReadonlyMap<string, string>): string[] {
  const {
    "Node Type": type,
    "Relation Name": table = "",
    "Index Name": index = "",
    "Index Cond": condition = "",
  } = node;
  const below = (node.Plans ?? []).flatMap((child) => scansBelow(child, isLimited || type === "Limit", leading));
  const first = leading.get(index);
  const isWhole = BIG_TABLES.includes(toTableName(table)) && type.endsWith("Seq Scan");
  const isWalk = first !== undefined && !isBounded(condition, first) && !(isLimited && isEnd(condition, first));
  return isWhole || isWalk ? [`${type} ${table}${index} ${condition}`, ...below] : below;
}

/** A partition is a table of its own in a plan. */
function toTableName(relation: string): string {
  return relation.startsWith("logs_") ? "logs" : relation;
}

/** Only what the first column is compared with narrows an index down; it is walked over for the others. */
function isBounded(condition: string, first: string): boolean {
  return new RegExp(String.raw`\b${first}"?\)?(?:::\w+)? [=<>]`).test(condition);
}

/** The rows at one end of an index are asked for, whatever they are. */
function isEnd(condition: string, first: string): boolean {
  return condition === "" || condition === `(${first} IS NOT NULL)`;
}

/** How many partitions of `logs` the plan of a statement reads. */
export async function countPartitions(raw: RawDatabase, { sql, values }: Statement): Promise<number> {
  if (raw.kind === "mysql") {
    const steps = await raw.rows<{ table: string; partitions: string | null }>(`explain partitions ${sql}`, values);
    return Math.max(
      0,
      ...steps.map(({ partitions }) => (partitions ?? "").split(",").filter((name) => name !== "").length),
    );
  }
  const answers = await raw.rows<PostgresAnswer>(`explain (format json) ${sql}`, values);
  const read = answers.flatMap(({ "QUERY PLAN": plans }) => plans.flatMap(({ Plan }) => relationsBelow(Plan)));
  return new Set(read.filter((name) => toTableName(name) === "logs")).size;
}

function relationsBelow({ "Relation Name": relation = "", Plans = [] }: PostgresNode): string[] {
  return [relation, ...Plans.flatMap(relationsBelow)];
}

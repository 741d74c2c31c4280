import { createTable, type DatabaseKind, type TableSpec } from "./columns.ts";
import { LOG_TABLE } from "./migrations/logs-0001-logs.ts";
import { ACTOR_COLUMNS } from "./migrations/logs-0003-log-actors.ts";
import { TAG_COLUMNS } from "./migrations/logs-0004-log-tags.ts";

/** The table after all its migrations. */
export const CURRENT_LOG_TABLE: TableSpec = {
  ...LOG_TABLE,
  columns: { ...LOG_TABLE.columns, ...ACTOR_COLUMNS, ...TAG_COLUMNS },
};

/** The column of epoch seconds that partitions the rows; each unique key of a partitioned table must contain it. */
export const PARTITION_COLUMN = "created_at";
/** The partition for rows that are later than all other partitions. */
export const REST = "rest";

const REST_ONLY = `partition by range (${PARTITION_COLUMN}) (partition ${REST} values less than maxvalue)`;

/**
 * Statement of MySQL and MariaDB that partitions the existing table; it copies the rows and blocks writes meanwhile.
 */
export const PARTITION_IN_PLACE = `alter table logs drop primary key, add primary key (id, ${PARTITION_COLUMN}) ${REST_ONLY}`;

/** Returns statements that create an empty log table with one partition, under another name if `logs` exists. */
export function partitionedLogs(kind: Exclude<DatabaseKind, "sqlite">, table: string): string[] {
  if (kind === "mysql") {
    return [`create table ${table} like logs`, PARTITION_IN_PLACE.replace("alter table logs", `alter table ${table}`)];
  }
  // Partitions have no identity columns before PostgreSQL 17; a sequence does the same on all versions.
  const id = { type: { sqlite: "", mysql: "", postgres: "bigint" }, isNullable: false, initial: undefined };
  const columns = { ...CURRENT_LOG_TABLE.columns, id };
  const [create = "", ...indexes] = createTable("postgres", table, {
    ...CURRENT_LOG_TABLE,
    columns,
    primaryKey: ["id", PARTITION_COLUMN],
  });
  return [
    `${create} partition by range (${PARTITION_COLUMN})`,
    ...indexes,
    `create sequence ${table}_id_seq owned by ${table}.id`,
    `alter table ${table} alter column id set default nextval('${table}_id_seq')`,
    `create table ${buildRelationName(REST)} partition of ${table} for values from (minvalue) to (maxvalue)`,
  ];
}

/** Returns the table name of a partition; on PostgreSQL, partitions are separate tables. */
export function buildRelationName(partition: string): string {
  return `logs_${partition}`;
}

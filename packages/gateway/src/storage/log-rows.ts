import type { Insertable } from "kysely";
import type { RawDatabase, RawTransaction, SqlValue } from "./engines/raw.ts";
import { InsertColumns, insertRows } from "./statements.ts";
import type { LogTable } from "./tables/schema.ts";

/** Columns of `logs` in the order of `toRowValues`. */
export const LOG_COLUMNS = [
  "user_id",
  "created_at",
  "type",
  "content",
  "username",
  "token_name",
  "model_name",
  "quota",
  "prompt_tokens",
  "completion_tokens",
  "use_time",
  "is_stream",
  "channel_id",
  "token_id",
  "group",
  "ip",
  "request_id",
  "other",
  "actor",
  "account_kind",
  "tags",
  "end_user",
] as const satisfies readonly (keyof LogTable)[];

/** Prefix of the request ids of imported rows whose hourly sums were imported as well. */
export const SUMMED_REQUEST = "imported-";

export type LogRowInput = Insertable<Omit<LogTable, "id">>;

/** The columns without a default. */
export type LogEntry = Pick<LogRowInput, "user_id" | "username" | "created_at" | "type" | "content"> &
  Partial<LogRowInput>;

const DEFAULTS = {
  token_name: "",
  model_name: "",
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  use_time: 0,
  is_stream: 0,
  channel_id: 0,
  token_id: 0,
  group: "",
  ip: "",
  request_id: "",
  other: "",
} as const;

/** Columns that personal accounts leave out, and rows that an older replica has queued. */
const LATER_DEFAULTS: Readonly<Partial<LogRowInput>> = { actor: "", account_kind: 0, tags: "", end_user: "" };

/** Writes a log row in the transaction of the change it describes. */
export type WriteLog = (tx: RawTransaction, entry: LogEntry) => Promise<void>;

/** @param isSeparate true if the log database is separate: then the rows are queued in `log_outbox` */
export function createLogWriter(isSeparate: boolean): WriteLog {
  const columns = LOG_COLUMNS.map((name) => `"${name}"`).join(", ");
  const insert = `insert into logs (${columns}) values (${LOG_COLUMNS.map(() => "?").join(", ")})`;
  return async (tx, entry) => {
    const row: LogRowInput = { ...DEFAULTS, ...entry };
    if (isSeparate)
      await tx.run('insert into log_outbox (request_id, "row") values (?, ?)', [row.request_id, JSON.stringify(row)]);
    else await tx.run(insert, toRowValues(row));
  };
}

/** Queues rows for a separate log database, which gets all its rows through `log_outbox`. */
export function queueLogRows(database: RawDatabase, rows: readonly LogRowInput[]): Promise<void> {
  const values = rows.map((row): SqlValue[] => [row.request_id, JSON.stringify(row)]);
  return database.transaction((tx) => insertRows(tx, database.kind, LOG_OUTBOX, values));
}

const LOG_OUTBOX = new InsertColumns("log_outbox", ["request_id", "row"]);

/** Returns the values of a row in the order of `LOG_COLUMNS`. */
export function toRowValues(row: LogRowInput): SqlValue[] {
  return LOG_COLUMNS.map((name) => row[name] ?? LATER_DEFAULTS[name] ?? "");
}

/** Returns `other.admin_info` of a management row: the acting administrator, hidden from the affected user. */
export function operatorInfo(operator: { readonly userId: number; readonly username: string }, ip: string): string {
  return JSON.stringify({ admin_info: { operator_id: operator.userId, operator_name: operator.username, ip } });
}

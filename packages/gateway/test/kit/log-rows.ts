import { storeRows } from "../../src/storage/clickhouse/rows.ts";
import type { LogDatabase } from "../../src/storage/log-database.ts";
import type { LogRowInput } from "../../src/storage/log-rows.ts";

/** Inserts log rows as the ledger writes them; what a test does not name has a plain value. */
export async function insertLogs(database: LogDatabase, rows: readonly Partial<LogRowInput>[]): Promise<void> {
  const plain: LogRowInput = {
    user_id: 1,
    created_at: 1_800_000_000,
    type: 2,
    content: "",
    username: "root",
    token_name: "",
    model_name: "gpt-4o",
    quota: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    use_time: 0,
    is_stream: 0,
    channel_id: 0,
    token_id: 0,
    group: "default",
    ip: "",
    request_id: "",
    other: "",
  };
  for (let at = 0; at < rows.length; at += 500) {
    const some = rows.slice(at, at + 500).map((row) => ({ ...plain, ...row }));
    if (database.kind === "clickhouse")
      await storeRows(
        database,
        some.map((row) => ({ id: takeId(database), ...row })),
      );
    else await database.db.insertInto("logs").values(some).execute();
  }
}

const lastIds = new WeakMap<LogDatabase, number>();

/** ClickHouse gives no ids. */
function takeId(database: LogDatabase): number {
  const id = (lastIds.get(database) ?? 0) + 1;
  lastIds.set(database, id);
  return id;
}

import { LOG_TYPE } from "@fairway/wire";
import { sql, type Kysely } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import type { Database } from "../../storage/database.ts";
import { areIdsInOrder, type LogDatabase } from "../../storage/log-database.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { newestLogId } from "../../storage/newest-log.ts";
import { SUMMED_REQUEST } from "../../storage/log-rows.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { BATCH_CONTENT, readChargedItems } from "../../batches/results/log-detail.ts";
import { findPassEnd, moveMark, readMark, SETTLE_MS, waitUnlessAborted } from "./log-mark.ts";

export interface RollupDeps {
  /** Database of the sums and of the mark that shows how far the log was read. */
  readonly database: Database;
  /** Database of the log; the same one unless logs have their own. */
  readonly logs: LogDatabase;
  /** Returns the option DataExportEnabled; if it is off, the log is skipped. */
  readonly isEnabled: () => boolean;
  /**
   * Delay of reading the newest rows, because servers assign ids before their transactions commit. SQLite has one
   * writer at a time and needs no wait.
   */
  readonly settleMs?: number;
  /** Called before each write; throws if another replica leads. */
  readonly confirm?: () => Promise<void>;
}

interface Sums {
  readonly user_id: number;
  readonly username: string;
  readonly model_name: string;
  readonly hour: number;
  readonly tokens: number;
  readonly count: number;
  readonly quota: number;
}

/** Row of `revisions` whose number is the id of the last log row in the sums. */
export const ROLLUP_MARK = "usage-rollup";
/** Row of `revisions` with the time (seconds) up to which the sums may lack rows. */
export const ROLLUP_GAP = "usage-rollup-gap";
const ROWS_PER_PASS = 5_000;
const UPSERT_ROWS = 100;
const COLUMNS = ["user_id", "username", "model_name", "created_at", "token_used", "count", "quota"] as const;
const ADD = {
  table: "quota_data",
  columns: COLUMNS,
  key: ["user_id", "username", "model_name", "created_at"],
  add: ["token_used", "count", "quota"],
} as const;

/**
 * Adds the consumption rows written since the last run to the hourly sums. It is safe to run on any replica, any number
 * of times and concurrently: the mark moves in the transaction of the sums, and only from its known value. Returns the
 * number of processed log rows.
 */
export async function rollUpUsage(deps: RollupDeps, signal: AbortSignal): Promise<number> {
  const newest = await newestLogId(deps.logs);
  const start = await readMark(deps.database, ROLLUP_MARK);
  if (newest <= start) {
    // Another log replaced the old one; its rows may already be in the sums.
    if (newest < start) await startOver(deps, { from: start, to: newest });
    return 0;
  }
  if (!areIdsInOrder(deps.logs)) await waitUnlessAborted(deps.settleMs ?? SETTLE_MS, signal);
  let mark = start;
  while (mark < newest && !signal.aborted) {
    const next = Math.min(newest, await findPassEnd(deps.logs.db, mark, ROWS_PER_PASS));
    const isEnabled = deps.isEnabled();
    const sums = isEnabled ? await sumsBetween(deps.logs.db, mark, next) : [];
    const gap = isEnabled ? 0 : await latestBetween(deps.logs.db, mark, next);
    await deps.confirm?.();
    if (!(await add(deps.database, sums, { from: mark, to: next, gap }))) return mark - start;
    mark = next;
  }
  return mark - start;
}

/** Starts with another log, whose rows may already be in the sums. */
async function startOver({ database, logs }: RollupDeps, pass: { from: number; to: number }): Promise<void> {
  const latest = logs.db.selectFrom("logs").select((eb) => eb.fn.max("created_at").as("time"));
  const gap = secondAfter(await latest.executeTakeFirstOrThrow());
  await database.raw.transaction(async (tx) => {
    if (await moveMark(tx, ROLLUP_MARK, pass)) await widenGap(tx, database.kind, gap);
  });
}

/**
 * Returns the latest time of these ids. The inner order limits the search to them: PostgreSQL would search from the
 * newest row of the log downwards.
 */
async function latestBetween(db: Kysely<Schema>, from: number, to: number): Promise<number> {
  const rows = db.selectFrom("logs").select("created_at").where("id", ">", from).where("id", "<=", to).orderBy("id");
  const latest = db.selectFrom(rows.as("passed")).select((eb) => eb.fn.max("created_at").as("time"));
  return secondAfter(await latest.executeTakeFirstOrThrow());
}

function secondAfter({ time }: { readonly time: number | null }): number {
  return time === null ? 0 : Number(time) + 1;
}

async function sumsBetween(db: Kysely<Schema>, from: number, to: number): Promise<Sums[]> {
  const hour = sql<number>`created_at - (created_at % 3600)`;
  const rows = await db
    .selectFrom("logs")
    .where("id", ">", from)
    .where("id", "<=", to)
    .where("type", "=", LOG_TYPE.consume)
    .where("request_id", "not like", `${SUMMED_REQUEST}%`)
    .select((eb) => [
      "user_id",
      "username",
      "model_name",
      hour.as("hour"),
      eb.fn.sum<number>(sql<number>`prompt_tokens + completion_tokens`).as("tokens"),
      eb.fn.countAll<number>().as("count"),
      eb.fn.sum<number>("quota").as("quota"),
    ])
    .groupBy(["user_id", "username", "model_name", hour])
    .execute();
  const sums = rows.map((row) => ({
    ...row,
    hour: Number(row.hour),
    tokens: Number(row.tokens),
    count: Number(row.count),
    quota: Number(row.quota),
  }));
  await countBatchedItems(db, sums, { from, to });
  return sums;
}

/** Counts the charged items of batches, which have one row for all of them, instead of their rows. */
async function countBatchedItems(
  db: Kysely<Schema>,
  sums: readonly { -readonly [K in keyof Sums]: Sums[K] }[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const rows = await db
    .selectFrom("logs")
    .where("id", ">", from)
    .where("id", "<=", to)
    .where("type", "=", LOG_TYPE.consume)
    .where("content", "like", `${BATCH_CONTENT}%`)
    .select(["user_id", "username", "model_name", "created_at", "other"])
    .execute();
  for (const row of rows) {
    const items = readChargedItems(row.other);
    const hour = row.created_at - (row.created_at % 3600);
    const sum = sums.find(
      (one) => one.hour === hour && one.user_id === row.user_id && fold(one.model_name) === fold(row.model_name),
    );
    if (items !== undefined && sum) sum.count += items - 1;
  }
}

/** The database groups names as it compares them, which may ignore case and trailing spaces. */
function fold(name: string): string {
  return name.trimEnd().toLowerCase();
}

interface Pass {
  readonly from: number;
  readonly to: number;
  /** Time up to which rows were skipped; 0 if none were. */
  readonly gap: number;
}

const GAP = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], replace: ["revision"] } as const;

/** Records that the sums up to this time (seconds) may differ from the rows of the log. */
export async function widenGap(tx: RawTransaction, kind: Database["kind"], gap: number): Promise<void> {
  if (gap === 0) return;
  const [known] = await tx.rows<{ revision: number }>("select revision from revisions where topic = ?", [ROLLUP_GAP]);
  if ((known?.revision ?? 0) < gap) await tx.run(upsertSql(kind, GAP), [ROLLUP_GAP, gap]);
}

/** Returns false, without adding anything, if another replica moved the mark in the meantime. */
function add({ raw, kind }: Database, sums: readonly Sums[], pass: Pass): Promise<boolean> {
  return raw.transaction(async (tx) => {
    if (!(await moveMark(tx, ROLLUP_MARK, pass))) return false;
    await widenGap(tx, kind, pass.gap);
    for (const rows of inChunks(sums, UPSERT_ROWS)) {
      const values = rows.flatMap((row) => [
        row.user_id,
        row.username,
        row.model_name,
        row.hour,
        row.tokens,
        row.count,
        row.quota,
      ]);
      await tx.run(upsertSql(kind, ADD, rows.length), values);
    }
    return true;
  });
}

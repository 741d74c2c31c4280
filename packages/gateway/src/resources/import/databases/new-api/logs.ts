import { LOG_TYPE } from "@fairway/wire";
import { seconds } from "../../../../lib/clock.ts";
import { widenGap } from "../../../usage-data/rollup.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import { upsertSql } from "../../../../storage/inserts.ts";
import { SUMMED_REQUEST } from "../../../../storage/log-rows.ts";
import { bringNew } from "../rows.ts";
import type { ImportContext } from "./context.ts";

const SUMS = {
  table: "quota_data",
  columns: ["user_id", "username", "model_name", "created_at", "token_used", "count", "quota"],
  key: ["user_id", "username", "model_name", "created_at"],
} as const;
const SUMS_AT_ONCE = 100;
const HOUR = 3_600;
/** One API's type for its own channel tests; here, this number means an error. */
const ONE_API_TEST = 5;
const CHANNEL_TEST_TYPE = 4;

/**
 * Imports hourly sums of the dashboard. Returns whether there were any, because their log rows must not be summed
 * again.
 */
export async function importSums(context: ImportContext): Promise<boolean> {
  const { source, target, users, report, progress, clock } = context;
  if (!(await source.has("quota_data"))) return false;
  let hasAny = false;
  for await (const rows of source.pages("quota_data")) {
    if (!hasAny) await target.raw.transaction((tx) => widenGap(tx, target.kind, seconds(clock) + 1));
    hasAny = true;
    const usable = rows.filter((row) => users.has(row.int("user_id")));
    report.count("hourly sums", "skipped", { times: rows.length - usable.length });
    const sums = [...Map.groupBy(usable, (row) => buildHourKey(row)).values()].map((same) =>
      buildHourlySum(context, same),
    );
    for (let at = 0; at < sums.length; at += SUMS_AT_ONCE) {
      const some = sums.slice(at, at + SUMS_AT_ONCE);
      const fresh = await newSums(context, some);
      report.count("hourly sums", "created", { times: fresh.length });
      report.count("hourly sums", "unchanged", { times: some.length - fresh.length });
      if (fresh.length === 0) continue;
      const values = fresh.flatMap((sum) => SUMS.columns.map((name) => sum[name]));
      await target.raw.run(upsertSql(target.kind, SUMS, fresh.length), values);
    }
    progress("hourly sums");
  }
  return hasAny;
}

interface HourlySum {
  readonly user_id: number;
  readonly username: string;
  readonly model_name: string;
  readonly created_at: number;
  readonly token_used: number;
  readonly count: number;
  readonly quota: number;
}

function buildHourlySum({ users }: ImportContext, same: readonly ForeignRow[]): HourlySum {
  const [row] = same;
  if (!row) throw new Error("a sum has no rows");
  const total = (name: string) => same.reduce((sum, one) => sum + one.int(name), 0);
  return {
    user_id: users.get(row.int("user_id")) ?? 0,
    username: row.text("username").slice(0, 64),
    model_name: row.text("model_name").slice(0, 255),
    created_at: calculateHour(row),
    token_used: total("token_used"),
    count: total("count"),
    quota: total("quota"),
  };
}

function calculateHour(row: ForeignRow): number {
  const time = row.int("created_at");
  return time - (time % HOUR);
}

function buildHourKey(row: ForeignRow): string {
  return JSON.stringify([row.int("user_id"), row.text("username"), row.text("model_name"), calculateHour(row)]);
}

async function newSums({ target }: ImportContext, sums: readonly HourlySum[]): Promise<HourlySum[]> {
  if (sums.length === 0) return [];
  const where = sums.map(() => "(user_id = ? and username = ? and model_name = ? and created_at = ?)").join(" or ");
  const found = await target.raw.rows<Pick<HourlySum, "user_id" | "username" | "model_name" | "created_at">>(
    `select user_id, username, model_name, created_at from quota_data where ${where}`,
    sums.flatMap((sum) => [sum.user_id, sum.username, sum.model_name, sum.created_at]),
  );
  const buildSumKey = (sum: (typeof found)[number]) =>
    JSON.stringify([sum.user_id, sum.username, sum.model_name, sum.created_at]);
  const known = new Set(found.map(buildSumKey));
  return sums.filter((sum) => !known.has(buildSumKey(sum)));
}

/** Imports request logs. Each row gets a name derived from its place in the source, so that a second run finds it. */
export async function importLogs(context: ImportContext, { areSummed }: { readonly areSummed: boolean }) {
  const { logSource, logTarget, origin } = context;
  const prefix = `${areSummed ? SUMMED_REQUEST : "import-"}${origin}-`;
  for await (const page of logSource.pages("logs")) {
    const buildLogRow = (row: ForeignRow) => logRow(context, row, `${prefix}${row.int("id")}`);
    const rows = page.map((row) => ({ values: buildLogRow(row), from: row }));
    await bringNew(context, logTarget.raw, { what: "logs", table: "logs", key: "request_id", rows });
  }
}

function logRow({ kind, users, tokens, channels, groups }: ImportContext, row: ForeignRow, requestId: string) {
  const channel = row.int("channel_id") || row.int("channel");
  const type = row.int("type", LOG_TYPE.unknown);
  return {
    user_id: users.get(row.int("user_id")) ?? 0,
    created_at: row.int("created_at"),
    type: kind === "one-api" && type === ONE_API_TEST ? CHANNEL_TEST_TYPE : type,
    content: row.text("content"),
    username: row.text("username").slice(0, 64),
    token_name: row.text("token_name").slice(0, 191),
    model_name: row.text("model_name").slice(0, 255),
    quota: row.int("quota"),
    prompt_tokens: row.int("prompt_tokens"),
    completion_tokens: row.int("completion_tokens"),
    use_time: row.has("elapsed_time") ? Math.ceil(row.int("elapsed_time") / 1000) : row.int("use_time"),
    is_stream: Number(row.flag("is_stream")),
    channel_id: channels.get(channel) ?? 0,
    token_id: tokens.get(row.int("token_id")) ?? 0,
    group: groups.of(row.text("group")).slice(0, 64),
    ip: row.text("ip").slice(0, 64),
    request_id: requestId,
    other: row.text("other"),
  };
}

import { parseObject } from "../../../../lib/text/json.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { SqlValue } from "../../../../storage/engines/raw.ts";
import { bringNew } from "../rows.ts";
import type { ImportContext } from "./context.ts";

const DONE = "100%";
/** The platform whose tasks are polled here. */
const POLLED = "suno";

/** Imports drawings. Running ones are polled here, and refunded if they fail. */
export function importDrawings(context: ImportContext): Promise<void> {
  return importJobs(context, { what: "drawings", table: "midjourneys", mark: "mj", buildRow: drawingRow });
}

export function importTasks(context: ImportContext): Promise<void> {
  return importJobs(context, { what: "tasks", table: "tasks", mark: "task", buildRow: taskRow });
}

interface Kind {
  readonly what: string;
  readonly table: "midjourneys" | "tasks";
  readonly mark: string;
  readonly buildRow: (context: ImportContext, row: ForeignRow) => Record<string, SqlValue>;
}

async function importJobs(context: ImportContext, { what, table, mark, buildRow }: Kind): Promise<void> {
  const { source, target, users, report, origin } = context;
  if (!(await source.has(table))) return;
  const prefix = `import-${origin}-${mark}-`;
  const sql = `select request_id from ${table} where request_id like ?`;
  const here = await target.raw.rows<{ request_id: string }>(sql, [`${prefix}%`]);
  const known = new Set(here.map(({ request_id }) => request_id));
  for await (const page of source.pages(table)) {
    const usable = page.filter((row) => users.has(row.int("user_id")));
    report.count(what, "skipped", { times: page.length - usable.length });
    const buildValues = (row: ForeignRow) => ({ ...buildRow(context, row), request_id: `${prefix}${row.int("id")}` });
    const rows = usable.map((row) => ({ values: buildValues(row), from: row }));
    await bringNew(context, target.raw, { what, table, key: "request_id", rows, known });
  }
}

/** Returns the quota, which was charged when the task was submitted and refunded if it failed. */
function money(row: ForeignRow) {
  const quota = row.int("quota");
  const isFailed = row.text("status") === "FAILURE";
  return { quota, charged: quota > 0 ? 1 : 0, refunded: quota > 0 && isFailed ? 1 : 0 };
}

function drawingRow({ users, channels }: ImportContext, row: ForeignRow): Record<string, SqlValue> {
  const submitted = row.int("submit_time");
  return {
    ...money(row),
    code: row.int("code"),
    user_id: users.get(row.int("user_id")) ?? 0,
    action: row.text("action").slice(0, 40),
    mj_id: row.text("mj_id").slice(0, 191),
    prompt: row.text("prompt"),
    prompt_en: row.text("prompt_en"),
    description: row.text("description"),
    state: row.text("state"),
    submit_time: submitted,
    start_time: row.int("start_time"),
    finish_time: row.int("finish_time"),
    image_url: row.text("image_url"),
    status: row.text("status").slice(0, 20),
    progress: row.text("progress").slice(0, 30),
    fail_reason: row.text("fail_reason"),
    channel_id: channels.get(row.int("channel_id")) ?? 0,
    buttons: row.text("buttons"),
    properties: row.text("properties"),
    created_at: Math.floor(submitted / 1000),
  };
}

function taskRow({ users, tokens, channels, report }: ImportContext, row: ForeignRow): Record<string, SqlValue> {
  const hidden = parseObject(row.text("private_data")) ?? {};
  const [upstreamId, tokenId] = [hidden["upstream_task_id"], hidden["token_id"]];
  const platform = row.text("platform").slice(0, 30);
  const status = row.text("status");
  const isOpen = row.text("progress") !== DONE && status !== "SUCCESS" && status !== "FAILURE";
  if (isOpen && platform !== POLLED)
    report.remark(`tasks of the kind ${platform} still run: their end is not seen here`);
  return {
    ...money(row),
    created_at: row.int("created_at"),
    updated_at: row.int("updated_at"),
    task_id: (typeof upstreamId === "string" && platform === POLLED ? upstreamId : row.text("task_id")).slice(0, 191),
    platform,
    user_id: users.get(row.int("user_id")) ?? 0,
    channel_id: channels.get(row.int("channel_id")) ?? 0,
    action: row.text("action").slice(0, 40),
    status: status.slice(0, 20),
    fail_reason: row.text("fail_reason"),
    submit_time: row.int("submit_time"),
    start_time: row.int("start_time"),
    finish_time: row.int("finish_time"),
    progress: row.text("progress").slice(0, 20),
    properties: row.text("properties"),
    data: row.text("data"),
    token_id: typeof tokenId === "number" ? (tokens.get(tokenId) ?? 0) : 0,
  };
}

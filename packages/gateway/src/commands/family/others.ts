import { checkOption, isOptionKey, parseOptions, REDEMPTION_STATUS, type OptionRow } from "@fairway/wire";
import { createOptionStore, type OptionWrite } from "../../resources/options/store.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import type { ForeignRow } from "../../storage/foreign.ts";
import { createLogWriter } from "../../storage/log-rows.ts";
import { insertRaw, type ImportContext } from "./context.ts";

/** Options that this gateway knows and whose texts pass its checks; the others are named. */
export async function importOptions(context: ImportContext): Promise<void> {
  const { target, report, isDry } = context;
  const rows: OptionRow[] = [];
  for await (const page of context.source.pages("options", "key")) {
    rows.push(...page.map((row) => ({ key: row.text("key"), value: row.text("value") })));
  }
  const announce = () => Promise.resolve();
  const defaults = priceOptionDefaults();
  const store = createOptionStore({
    ...context,
    database: target,
    defaults,
    announce,
    writeLog: createLogWriter(false),
  });
  const stored = await store.stored();
  const own = new Map(stored.map(({ key, value }) => [key, value]));
  const after = parseOptions([...stored, ...rows], { defaults });
  const writes: OptionWrite[] = [];
  for (const { key, value } of rows) {
    const check = checkOption(key, value, after);
    if (!check.isValid) {
      report.count(
        "options",
        "skipped",
        isOptionKey(key) ? `the option ${key} has a value that cannot be used` : undefined,
      );
    } else if (own.get(key) === check.text) report.count("options", "kept");
    else {
      report.count("options", own.has(key) ? "updated" : "created");
      writes.push(check);
    }
  }
  if (!isDry && writes.length > 0) await store.write(writes, { userId: 0, username: "import", ip: "" });
}

export async function importRedemptions(context: ImportContext): Promise<void> {
  const { source, target, users, report, isDry } = context;
  for await (const rows of source.pages("redemptions")) {
    for (const row of rows) {
      const key = row.text("key");
      const isGone = row.isDeleted || key === "" || row.int("quota") <= 0;
      const known = isGone ? [] : await target.raw.rows('select 1 as one from redemptions where "key" = ?', [key]);
      if (isGone || known.length > 0) {
        report.count("redemption codes", isGone ? "skipped" : "kept");
        continue;
      }
      report.count("redemption codes", "created");
      if (isDry) continue;
      await insertRaw(target.raw, "redemptions", {
        user_id: users.get(row.int("user_id")) ?? 0,
        key,
        status: row.int("status", REDEMPTION_STATUS.unused),
        name: row.text("name").slice(0, 191),
        quota: row.int("quota"),
        created_time: row.int("created_time"),
        redeemed_time: row.int("redeemed_time"),
        used_user_id: users.get(row.int("used_user_id")) ?? 0,
      });
    }
  }
}

/** Request logs. Each gets a name that follows from where it stood, so that a second run finds it. */
export async function importLogs(context: ImportContext, origin: string): Promise<void> {
  const { source, logTarget, report, isDry } = context;
  for await (const rows of source.pages("logs")) {
    const named = rows.map((row) => ({ row, requestId: `import-${origin}-${row.int("id")}` }));
    const places = named.map(() => "?").join(", ");
    const find = `select request_id from logs where request_id in (${places})`;
    const found = await logTarget.raw.rows<{ request_id: string }>(
      find,
      named.map(({ requestId }) => requestId),
    );
    const known = new Set(found.map(({ request_id }) => request_id));
    const fresh = named.filter(({ requestId }) => !known.has(requestId));
    for (const { requestId } of named) report.count("logs", known.has(requestId) ? "kept" : "created");
    if (isDry || fresh.length === 0) continue;
    await logTarget.raw.transaction(async (tx) => {
      for (const { row, requestId } of fresh) await insertRaw(tx, "logs", logRow(context, row, requestId));
    });
  }
}

function logRow({ users, tokens, channels }: ImportContext, row: ForeignRow, requestId: string) {
  const channel = row.int("channel_id") || row.int("channel");
  return {
    user_id: users.get(row.int("user_id")) ?? 0,
    created_at: row.int("created_at"),
    type: row.int("type"),
    content: row.text("content"),
    username: row.text("username").slice(0, 64),
    token_name: row.text("token_name").slice(0, 191),
    model_name: row.text("model_name").slice(0, 255),
    quota: row.int("quota"),
    prompt_tokens: row.int("prompt_tokens"),
    completion_tokens: row.int("completion_tokens"),
    use_time: row.int("use_time"),
    is_stream: Number(row.flag("is_stream")),
    channel_id: channels.get(channel) ?? 0,
    token_id: tokens.get(row.int("token_id")) ?? 0,
    group: row.text("group").slice(0, 64),
    ip: row.text("ip").slice(0, 64),
    request_id: requestId,
    other: row.text("other"),
  };
}

// A gateway with a month of sample data and a few calls of this minute, some of them moved to another channel.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChannel, createToken, signIn, type Session } from "../../packages/testkit/src/api.ts";
import { ENCRYPTION_KEY, ROOT_PASSWORD, startGateway } from "../../packages/testkit/src/gateway.ts";
import { runSql } from "../../packages/testkit/src/sql.ts";
import { startUpstream } from "../../packages/testkit/src/upstream/index.ts";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";

export interface SampleGateway {
  readonly url: string;
  readonly password: string;
  stop(): Promise<void>;
}

const SEED = ["--logs", "40000", "--channels", "14", "--users", "24", "--tokens", "40", "--days", "30"];
const MODEL = "gpt-4o-mini";
const FAILING_MODEL = "o4-mini-deep-research";
const SUMMED_MS = 240_000;
/** By channel type. */
const NAMES: Readonly<Record<number, readonly string[]>> = {
  1: ["openai-team-a", "openai-team-b", "openai-batch", "openai-research", "openai-spare", "openai-asia"],
  14: ["anthropic-main", "anthropic-batch", "anthropic-research", "anthropic-spare"],
  24: ["gemini-main", "gemini-research", "gemini-batch", "gemini-spare"],
};
/** Scope, column of the log, percentage used. */
const BUDGETS = [
  ["user", "user_id", 94],
  ["model", "model_name", 86],
  ["channel", "channel_id", 52],
] as const;
const TAGS = ["primary", "", "backup", ""];

export async function startSample(): Promise<SampleGateway> {
  const folder = mkdtempSync(join(tmpdir(), "fairway-pictures-"));
  const database = `sqlite:${join(folder, "fairway.db")}`;
  const seed = [join(ROOT, "scripts/seed.ts"), "--database", database, ...SEED];
  const env = { FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY, FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD };
  const { code, output } = await run(process.execPath, seed, { env });
  if (code !== 0) throw new Error(output);
  await addBudgets(database);
  const [upstream, gateway] = [await startUpstream(), await startGateway({ database })];
  const root = await signIn(gateway.url);
  await nameChannels(root);
  await addCalls(root, upstream.url);
  await untilSummed(root);
  return {
    url: gateway.url,
    password: ROOT_PASSWORD,
    async stop() {
      await gateway.stop();
      await upstream.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Adds monthly budgets for the largest spenders, filled according to the log. */
async function addBudgets(database: string): Promise<void> {
  const now = new Date();
  const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1000;
  for (const [scope, column, percent] of BUDGETS)
    await runSql(
      database,
      `INSERT INTO budgets (scope, subject, period, time_zone, quota_limit, soft_percent, is_hard, window_start, used)
       SELECT '${scope}', ${column}, 'month', 'UTC', SUM(quota) * 100 / ${percent}, 80, 1, ${start}, SUM(quota)
       FROM logs WHERE type = 2 AND created_at >= ${start} GROUP BY ${column} ORDER BY SUM(quota) DESC LIMIT 1`,
    );
}

/** Renames channels as an operator would. */
async function nameChannels(root: Session): Promise<void> {
  const channels = await root.must<{ id: number; type: number }[]>("GET", "/api/channel/?page_size=100");
  const used = new Map<number, number>();
  for (const [index, { id, type }] of channels.entries()) {
    const place = used.get(type) ?? 0;
    used.set(type, place + 1);
    const name = NAMES[type]?.[place] ?? `channel-${id}`;
    await root.must("PUT", "/api/channel/", { id, name, tag: TAGS[index % TAGS.length] });
  }
}

/** Waits for the sums of the log, which are updated in the background once a minute. */
async function untilSummed(root: Session): Promise<void> {
  const limit = performance.now() + SUMMED_MS;
  const until = Math.floor(Date.now() / 1000);
  const path = `/api/statistics/usage?by=all&start_timestamp=${until - 86_400}&end_timestamp=${until}`;
  for (;;) {
    const { total, complete_until } = await root.must<{ total: { calls: number }; complete_until: number }>(
      "GET",
      path,
    );
    if (total.calls > 0 && complete_until >= until) return;
    if (performance.now() > limit) throw new Error(`the statistics end at ${complete_until}, not at ${until}`);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

/** Adds calls: those of one model fail; those of the other move to the next channel. */
async function addCalls(root: Session, upstream: string): Promise<void> {
  await root.must("PUT", "/api/option/", { key: "RetryTimes", value: "2" });
  const channel = { base_url: upstream, group: "default" };
  const mapping = JSON.stringify({ [MODEL]: "status-529", [FAILING_MODEL]: "status-529" });
  const primary = { name: "openai-primary", models: `${MODEL},${FAILING_MODEL}`, model_mapping: mapping };
  await createChannel(root, { ...channel, ...primary, priority: 100 });
  const europe = { name: "openai-europe", models: MODEL, model_mapping: JSON.stringify({ [MODEL]: "plain" }) };
  await createChannel(root, { ...channel, ...europe, priority: 90 });
  const key = await createToken(root, { name: "production" });
  for (const model of [FAILING_MODEL, FAILING_MODEL, ...Array.from({ length: 6 }, () => MODEL)]) {
    const answer = await fetch(`${root.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
    await answer.text();
  }
}

// Alerts about what is in the stores: a gateway that starts on them reports it, and the alert fires.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createChannel,
  createToken,
  runSql,
  setModelRatios,
  signIn,
  startGateway,
  startRedis,
  startUpstream,
  type GatewayProcess,
} from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel, readRules, untilFiring } from "./alert-kit.ts";
import { startPrometheus, type Prometheus } from "./prometheus.ts";

const now = () => Math.floor(Date.now() / 1_000);
/** No job reads the rows before the test has ended. */
const LATER = now() + 86_400;

let database = "";
let gateway: GatewayProcess;
let prometheus: Prometheus;
const cleanups: (() => unknown)[] = [];

type Row = Readonly<Record<string, string | number>>;

async function insert(table: string, row: Row): Promise<void> {
  const columns = Object.keys(row).map((name) => `\`${name}\``);
  const values = Object.values(row).map((value) => (typeof value === "number" ? value : `'${value}'`));
  await runSql(database, `insert into ${table} (${columns.join()}) values (${values.join()})`);
}

function describeBatch(id: string, more: Row): Row {
  return {
    id,
    dialect: "openai",
    user_id: 1,
    token_id: 1,
    group: "default",
    channel_id: 1,
    key_mark: "0123456789abcdef",
    upstream_id: id,
    request_id: id,
    endpoint: "/v1/chat/completions",
    models: "{}",
    input_file_id: "file",
    output_file_id: "",
    error_file_id: "",
    phase: "open",
    wire: "{}",
    total: 1,
    succeeded: 0,
    failed: 0,
    expired: 0,
    cancelled: 0,
    deposit: 0,
    charged: 0,
    saved: 0,
    terms: "{}",
    metadata: "{}",
    body_hash: "",
    error: "",
    created_at: now() - 7_200,
    expires_at: LATER,
    ended_at: 0,
    settled_at: 0,
    deleted_at: 0,
    next_poll_at: LATER * 1_000,
    polled_at: LATER * 1_000,
    polls: 1,
    failures: 0,
    revision: 1,
    ...more,
  };
}

beforeAll(async () => {
  const upstream = await startUpstream();
  cleanups.push(() => upstream.stop());
  const folder = mkdtempSync(join(tmpdir(), "fairway-alerts-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  database = `sqlite:${join(folder, "fairway.db")}`;
  const redis = await startRedis();
  cleanups.push(() => redis.stop());
  const stores = { database, redis: redis.url };
  const first = await startGateway(stores);
  const root = await signIn(first.url);
  await setModelRatios(root, { plain: 1 });
  await createChannel(root, { name: "main", base_url: upstream.url, models: "plain" });
  expect(await callModel({ url: first.url, key: await createToken(root) }, "plain")).toBe(200);
  await first.stop();

  await insert("batches", describeBatch("stuck", { phase: "stuck", error: "channel_deleted" }));
  await insert("batches", describeBatch("refused", { error: "key_refused" }));
  await insert("batches", describeBatch("ended", { phase: "ended", ended_at: now() - 7_000 }));
  const balance = `update channels set balance = 2, balance_updated_time = ${now()}`;
  await runSql(database, balance);

  gateway = await startGateway({ ...stores, env: { FAIRWAY_BATCH_INTERVAL_MS: "500" } });
  cleanups.push(() => gateway.stop());
  prometheus = await startPrometheus(gateway.adminUrl, { namespace: "models", pod: "gateway-0" }, readRules());
  cleanups.push(() => prometheus.stop());
}, 180_000);
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

test.each(["FairwayBatchStuck", "FairwayBatchKeyRefused", "FairwayBatchUnsettled", "FairwayChannelBalanceLow"])(
  "%s",
  async (alert) => {
    await untilFiring(prometheus, alert);
  },
);

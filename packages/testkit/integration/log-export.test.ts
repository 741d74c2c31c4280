// A whole gateway whose log rows go to a bucket and to a collector, which both refuse some of them.
import {
  createChannel,
  createToken,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "@fairway/testkit";
import { BUCKET_REGION, startBucket, type Bucket } from "@fairway/testkit/bucket";
import { startLogCollector, type LogCollector } from "@fairway/testkit/log-collector";
import { afterAll, beforeAll, expect, test } from "vitest";

const SOON = { timeout: 60_000, interval: 200 };

let bucket: Bucket;
let collector: LogCollector;
let upstream: Upstream;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  bucket = await startBucket();
  collector = await startLogCollector();
  upstream = await startUpstream();
  gateway = await startGateway({
    env: {
      FAIRWAY_LOG_EXPORT_OTLP_ENDPOINT: collector.url,
      FAIRWAY_LOG_EXPORT_OTLP_HEADERS: "authorization=Bearer%20collector",
      FAIRWAY_LOG_EXPORT_S3_URL: `${bucket.url}/fairway`,
      FAIRWAY_LOG_EXPORT_S3_REGION: BUCKET_REGION,
      FAIRWAY_LOG_EXPORT_S3_KEY_ID: bucket.keyId,
      FAIRWAY_LOG_EXPORT_S3_KEY: bucket.key,
    },
  });
  const root = await signIn(gateway.url);
  await root.must("PUT", "/api/option/", { key: "SelfUseModeEnabled", value: "true" });
  await createChannel(root, { base_url: upstream.url, models: "plain", name: "working" });
  key = await createToken(root);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await collector?.stop();
  await bucket?.stop();
});

async function call(): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "a secret question" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers.get("request-id") ?? "";
}

const verbose = async () => (await fetch(`${gateway.adminUrl}/readyz?verbose`)).text();

test("a charged call reaches both, without its words and without a key", async () => {
  const requestId = await call();
  await expect.poll(() => bucket.lines().map((row) => row["request_id"]), SOON).toContain(requestId);
  const inCollector = () => collector.records.map(({ attributes }) => attributes["fairway.request_id"]);
  await expect.poll(inCollector, SOON).toContain(requestId);
  expect(collector.authorization).toBe("Bearer collector");
  const all = JSON.stringify([bucket.lines(), collector.records]);
  expect(all).not.toMatch(/secret question|sk-/);
  expect(await verbose()).toMatch(/\[\+\] log export to s3 has all rows/);
});

test("while both refuse calls are answered, the verbose probe says why, and the rows follow", async () => {
  bucket.refuse({ status: 507, code: "XMinioStorageFull" });
  collector.answer({ status: 503 });
  const before = bucket.lines().length;
  const requestIds = [await call(), await call()];
  await gateway.logged("log rows wait: the export failed and is tried again");
  await expect.poll(verbose, SOON).toMatch(/\[!\] log export to otlp is \d+ s behind: the collector answers 503/);
  expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(200);
  bucket.refuse(undefined);
  collector.answer(undefined);
  const arrived = () => collector.records.map(({ attributes }) => attributes["fairway.request_id"]);
  await expect.poll(arrived, SOON).toEqual(expect.arrayContaining(requestIds));
  // A small object waits until a minute after the last one.
  await expect.poll(() => bucket.lines().length, { timeout: 90_000, interval: 500 }).toBe(before + 2);
  const ids = bucket.lines().map((row) => row["id"]);
  expect(new Set(ids).size).toBe(ids.length);
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/fairway_log_export_rows_total\{destination="otlp",result="sent"\} [1-9]/);
  expect(metrics).toMatch(/fairway_log_export_failures_total\{destination="otlp",reason="busy"\} [1-9]/);
  expect(JSON.stringify(gateway.logs)).not.toContain(bucket.key);
}, 180_000);

test("a bucket without a key stops the start with the names of the variables", async () => {
  const env = { FAIRWAY_LOG_EXPORT_S3_URL: bucket.url };
  await expect(startGateway({ env })).rejects.toThrow(/FAIRWAY_LOG_EXPORT_S3_KEY_ID and FAIRWAY_LOG_EXPORT_S3_KEY/);
});

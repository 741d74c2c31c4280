// Alerts that fire because of their real cause: a Prometheus scrapes a real gateway and evaluates the rules.
import {
  createChannel,
  createToken,
  setModelRatios,
  setOptions,
  signIn,
  startGateway,
  startRedis,
  startUpstream,
  type GatewayProcess,
} from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel, listFiring, POLL, readRules, untilFiring, untilSeen } from "./alert-kit.ts";
import { startPrometheus, type Prometheus } from "./prometheus.ts";

const MAX_INFLIGHT = 3;

let gateway: GatewayProcess;
let redis: Awaited<ReturnType<typeof startRedis>>;
let prometheus: Prometheus;
let key = "";
const cleanups: (() => unknown)[] = [];
const leaving = new AbortController();

beforeAll(async () => {
  const upstream = await startUpstream();
  cleanups.push(() => upstream.stop());
  redis = await startRedis();
  gateway = await startGateway({
    redis: redis.url,
    env: { FAIRWAY_MAX_INFLIGHT: String(MAX_INFLIGHT), FAIRWAY_SPOOL_MEGABYTES: "1" },
  });
  cleanups.push(() => gateway.stop());
  prometheus = await startPrometheus(gateway.adminUrl, { namespace: "models", pod: "gateway-0" }, readRules());
  cleanups.push(() => prometheus.stop());
  const root = await signIn(gateway.url);
  await setModelRatios(root, { "status-500": 1, "status-401": 1, hang: 1 });
  await setOptions(root, { AutomaticDisableChannelEnabled: "true" });
  for (const model of ["status-500", "status-401", "hang"])
    await createChannel(root, { name: model, base_url: upstream.url, models: model });
  key = await createToken(root);
}, 120_000);
afterAll(async () => {
  leaving.abort();
  for (const cleanup of cleanups.toReversed()) await cleanup();
  await redis?.stop();
});

const ask = (model: string) => callModel({ url: gateway.url, key, signal: leaving.signal }, model);
const firing = () => listFiring(prometheus);
const untilFires = (alert: string) => untilFiring(prometheus, alert);
const untilCounted = (outcomes: string) =>
  untilSeen(prometheus, `fairway_relay_requests_total{outcome=~"${outcomes}"}`);

test("nothing fires while nothing is wrong", async () => {
  await expect.poll(() => prometheus.query("fairway_dependency_up == 1"), POLL).not.toEqual([]);
  await expect.poll(firing, POLL).toEqual([]);
});

test("uploads that need more disk than there is fire FairwaySpoolFull", async () => {
  await expect.poll(() => prometheus.query("fairway_spool_refusals_total"), POLL).toHaveLength(1);
  const form = new FormData();
  form.set("file", new Blob([Buffer.alloc(3 * 1024 * 1024)]), "a.pdf");
  form.set("purpose", "user_data");
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form })).status).toBe(503);
  await untilFires("FairwaySpoolFull");
}, 120_000);

test("a refused key switches the channel off, and then no channel serves the model", async () => {
  expect(await ask("status-401")).toBeGreaterThanOrEqual(400);
  await untilFires("FairwayChannelAutoDisabled");
  await ask("status-401");
  await untilCounted("no_channel|model_not_found");
  for (let at = 0; at < 10; at++) await ask("status-401");
  await untilFires("FairwayNoChannelAvailable");
});

test("a provider that fails burns the error budget", async () => {
  await ask("status-500");
  await untilCounted("upstream_error");
  for (let at = 0; at < 20; at++) await ask("status-500");
  await untilFires("FairwayErrorBudgetFastBurn");
});

test("calls that hang fill the pod", async () => {
  for (let at = 0; at < MAX_INFLIGHT; at++) void ask("hang").catch(() => undefined);
  await untilFires("FairwayInflightNearLimit");
});

test("Redis stops", async () => {
  await redis.stop();
  await untilFires("FairwayRedisDown");
  const critical = await prometheus.query('ALERTS{alertname="FairwayRedisDown",severity="critical"}');
  expect(critical).not.toEqual([]);
  expect(await ask("status-500")).toBe(503);
});

test("the gateway ends", async () => {
  leaving.abort();
  await gateway.stop();
  await untilFires("FairwayAbsent");
});

// More alerts that fire because of their real cause: bad answers, slow programs, and a collector that is away.
import { setTimeout as sleep } from "node:timers/promises";
import {
  createChannel,
  createToken,
  runSql,
  setModelRatios,
  setOptions,
  signIn,
  startGateway,
  startServices,
  startUpstream,
  type GatewayProcess,
  type Services,
  type Session,
} from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel, readRules, untilFiring, untilSeen } from "./alert-kit.ts";
import { startPrometheus, type Prometheus } from "./prometheus.ts";

/** Nothing listens there. */
const NOWHERE = "http://127.0.0.1:1";
const HUGE_USAGE = "usage-900000000-900000000";
const MODELS = ["plain", "status-500", "slow-600", HUGE_USAGE, "judged", "cached-20"];

let services: Services;
let database = "";
let gateway: GatewayProcess;
let prometheus: Prometheus;
let root: Session;
let key = "";
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  const upstream = await startUpstream();
  cleanups.push(() => upstream.stop());
  services = await startServices({ mariadb: true, redis: true });
  cleanups.push(() => services.stop());
  const server = services.mariadb?.url ?? "";
  await runSql(server, "CREATE DATABASE alerts CHARACTER SET utf8mb4");
  database = new URL("/alerts", server).href;
  gateway = await startGateway({
    database,
    redis: services.redis?.url ?? "",
    env: { FAIRWAY_LOG_EXPORT_OTLP_ENDPOINT: NOWHERE },
  });
  cleanups.push(() => gateway.kill());
  const rules = readRules({
    FairwayTimeToFirstTokenSlow: ["> 10", "> 0.3"],
    FairwayLogExportBehind: ["> 900", "> 3"],
  });
  prometheus = await startPrometheus(gateway.adminUrl, { namespace: "models", pod: "gateway-0" }, rules);
  cleanups.push(() => prometheus.stop());
  root = await signIn(gateway.url);
  await setModelRatios(root, Object.fromEntries(MODELS.map((model) => [model, 1])));
  await setOptions(root, {
    CacheRatio: JSON.stringify({ "cached-20": Number.MAX_SAFE_INTEGER }),
    GuardrailUrl: NOWHERE,
    GuardrailSecret: "secret-of-the-test",
    GuardrailOnFailure: "allow",
    GuardrailModels: "judged",
    GuardrailEnabled: "true",
  });
  await createChannel(root, { name: "main", base_url: upstream.url, models: MODELS.join(","), auto_ban: 0 });
  key = await createToken(root);
}, 180_000);
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

const ask = (model: string, stream = false) => callModel({ url: gateway.url, key }, model, stream);
const untilFires = (alert: string) => untilFiring(prometheus, alert);

test("two replicas that lead, because each has a database of its own, fire FairwaySplitLeader", async () => {
  const second = await startGateway();
  const both = await startPrometheus([gateway.adminUrl, second.adminUrl], { namespace: "models" }, readRules());
  await untilFiring(both, "FairwaySplitLeader");
  await both.stop();
  await second.stop();
});

test("half of the calls of a channel fail", async () => {
  await ask("status-500");
  await untilSeen(prometheus, 'fairway_upstream_attempts_total{outcome="upstream_error"}');
  for (let at = 0; at < 30; at++) for (const model of ["status-500", "plain"]) await ask(model);
  await untilFires("FairwayChannelErrorRateHigh");
});

test("a model that begins late fires FairwayTimeToFirstTokenSlow", async () => {
  await ask("slow-600", true);
  await untilSeen(prometheus, 'fairway_relay_ttft_seconds_count{model="slow-600"}');
  await ask("slow-600", true);
  await untilFires("FairwayTimeToFirstTokenSlow");
}, 120_000);

test("an answer with usage that cannot be fires FairwayUsageNotBelieved", async () => {
  expect(await ask(HUGE_USAGE)).toBe(200);
  await untilFires("FairwayUsageNotBelieved");
});

test("a guardrail that does not answer fires FairwayGuardrailFailing", async () => {
  await ask("judged");
  await untilSeen(prometheus, 'fairway_guardrail_verdicts_total{verdict="failed"}');
  await ask("judged");
  await untilFires("FairwayGuardrailFailing");
});

test("a charge beyond every balance fires FairwaySettlementRefused", async () => {
  expect(await ask("cached-20")).toBe(200);
  await untilFires("FairwaySettlementRefused");
}, 120_000);

test("a collector that is away fires FairwayLogExportBehind", () => untilFires("FairwayLogExportBehind"));

test("a process that stands still for parts of a second fires FairwayEventLoopLag", async () => {
  let isOver = false;
  const fired = untilFires("FairwayEventLoopLag").finally(() => (isOver = true));
  while (!isOver) {
    process.kill(gateway.pid, "SIGSTOP");
    await sleep(500);
    process.kill(gateway.pid, "SIGCONT");
    await sleep(300);
  }
  await fired;
}, 120_000);

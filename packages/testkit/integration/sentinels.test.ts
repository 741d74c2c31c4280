// Two gateways on a Redis that sentinels watch: the primary is killed under load, and nothing is lost or charged twice.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase } from "../src/databases.ts";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  runSql,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";
import { startRedisGroup, type RedisGroup } from "../src/services.ts";

const WORKERS = 6;
/**
 * One second until the loss is noticed, about one for the election, two to reload balances, and some for a busy
 * machine.
 */
const LONGEST_OUTAGE_MS = 12_000;

let upstream: Upstream;
let group: RedisGroup;
let database: string;
const gateways: GatewayProcess[] = [];
beforeAll(async () => {
  [upstream, group, database] = await Promise.all([startUpstream(), startRedisGroup(), createDatabase("mariadb")]);
  const start = () => startGateway({ database, redis: group.url });
  gateways.push(...(await Promise.all([start(), start()])));
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await Promise.all([upstream?.stop(), group?.stop()]);
});

interface Answer {
  readonly status: number;
  readonly isWhole: boolean;
}

async function ask({ url }: GatewayProcess, key: string, model: string): Promise<Answer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: model !== "plain", messages: [{ role: "user", content: "hi" }] }),
  });
  const text = await response.text();
  return { status: response.status, isWhole: model === "plain" || text.trimEnd().endsWith("data: [DONE]") };
}

const count = async (sql: string) => Number((await runSql(database, sql)).at(0)?.["n"]);

test("a fail-over under load loses nothing and charges nothing twice", { timeout: 60_000 }, async () => {
  const [first] = gateways as [GatewayProcess];
  const root = await signIn(first.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1, "slow-200": 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain,slow-200" });
  const key = await createToken(root);
  const answers: Answer[] = [];
  const isServed = async (gateway: GatewayProcess) => {
    const answer = await ask(gateway, key, "plain");
    answers.push(answer);
    return answer.status === 200;
  };
  const areServed = () =>
    Promise.all(
      gateways.map(async (gateway) => {
        while (!(await isServed(gateway))) await sleep(50);
      }),
    );
  const given = await count("select quota + used_quota as n from users where username = 'root'");
  await areServed();
  let isRunning = true;
  const load = Array.from({ length: WORKERS }, async (_, worker) => {
    const gateway = gateways[worker % gateways.length] as GatewayProcess;
    while (isRunning) {
      answers.push(await ask(gateway, key, worker < 2 ? "slow-200" : "plain"));
      await sleep(20);
    }
  });
  await sleep(1_500);
  await group.primary.kill("SIGKILL");
  const killedAt = performance.now();
  await areServed();
  const outageMs = performance.now() - killedAt;
  await sleep(1_500);
  isRunning = false;
  await Promise.all(load);

  expect(outageMs).toBeLessThan(LONGEST_OUTAGE_MS);
  expect(await group.namedPort()).toBe(group.replica.port);
  const served = answers.filter(({ status, isWhole }) => status === 200 && isWhole).length;
  // A fail-over that is faster than a call's timeout refuses no request.
  expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  expect(served).toBeGreaterThan(20);

  for (const gateway of gateways) expect((await fetch(`${gateway.adminUrl}/readyz?verbose`)).status).toBe(200);
  for (const gateway of gateways) expect(await gateway.stop()).toBe(0);
  expect(await count("select count(*) as n from logs where type = 2")).toBe(served);
  expect(await count("select count(distinct request_id) as n from logs where type = 2")).toBe(served);
  const logged = await count("select sum(quota) as n from logs where type = 2");
  const booked = await count("select -sum(quota) as n from ledger where kind = 'consume'");
  const used = await count("select used_quota as n from users where username = 'root'");
  const spent = given - (await count("select quota as n from users where username = 'root'"));
  expect(logged).toBeGreaterThan(0);
  expect([booked, used, spent]).toEqual([logged, logged, logged]);
  const reported = gateways.flatMap(({ logs }) => logs.map((line) => JSON.stringify(line))).join("\n");
  expect(reported).not.toMatch(/secret-of/);
});

// A gateway on a Redis Cluster like those of managed services: TLS, a user with a password, and nodes with host names.
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
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
import { createCertificates, type Certificates } from "../src/services/certificates.ts";
import { startRedisCluster, type RedisCluster } from "../src/services.ts";

const LIMIT = { timeout: 120_000 };
const USER = { name: "app", password: "secret of app" };
const USERS = 6;

let upstream: Upstream;
let tls: Certificates;
let cluster: RedisCluster;
let database: string;
beforeAll(async () => {
  [upstream, tls, database] = await Promise.all([startUpstream(), createCertificates(), createDatabase("mariadb")]);
  cluster = await startRedisCluster({
    tls,
    user: USER,
    password: "secret-of-nodes",
    hostname: "localhost",
    replicaPrimaries: [0],
  });
});
afterAll(async () => {
  await Promise.all([upstream?.stop(), cluster?.stop()]);
  await rm(dirname(tls.ca), { recursive: true });
});

const start = (redis: string, env: Record<string, string> = {}) =>
  startGateway({ database, redis, env: { NODE_EXTRA_CA_CERTS: tls.ca, ...env } });

const refusal = (redis: string, env: Record<string, string> = {}) =>
  start(redis, env).then(
    () => "started",
    (error: Error) => error.message,
  );

async function call({ url }: GatewayProcess, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] }),
  });
  await response.text();
  return response.status;
}

test("calls of users on all primaries are served and charged, changes reach the other replica", LIMIT, async () => {
  // One name for all nodes, like a configuration endpoint, and a replica among them.
  const [replica] = cluster.replicas;
  const named = cluster.url.replace(/@.*$/, `@localhost:${replica?.port}`);
  const gateways = [await start(cluster.url), await start(named)] as const;
  const root = await signIn(gateways[0].url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain" });
  const keys: string[] = [];
  for (let at = 0; at < USERS; at += 1) {
    const username = `user${at}`;
    await root.must("POST", "/api/user/", { username, password: "password-of-user", display_name: username });
    await runSql(database, `update users set quota = 1000000 where username = '${username}'`);
    keys.push(await createToken(await signIn(root.url, username, "password-of-user")));
  }
  for (const key of keys)
    for (const gateway of gateways) await expect.poll(() => call(gateway, key), { timeout: 10_000 }).toBe(200);
  for (const gateway of gateways) expect(await gateway.stop()).toBe(0);
  const [row] = await runSql(
    database,
    "select count(distinct user_id) as users, count(*) as charges, -sum(quota) as quota from ledger where kind = 'consume'",
  );
  expect(Number(row?.["users"])).toBe(USERS);
  const [logs] = await runSql(database, "select count(*) as n, sum(quota) as quota from logs where type = 2");
  expect([Number(logs?.["n"]), Number(logs?.["quota"])]).toEqual([Number(row?.["charges"]), Number(row?.["quota"])]);
});

test(
  "a wrong password, and nodes that no one vouches for, are refused with the reason and without a secret",
  LIMIT,
  async () => {
    const wrong = cluster.url.replace(/:[^:@]*@/, ":wrong-guess@");
    const [login, stranger] = await Promise.all([refusal(wrong), refusal(cluster.url, { NODE_EXTRA_CA_CERTS: "" })]);
    expect(login).toContain("it refuses the user name or password");
    expect(stranger).toMatch(/certificate/);
    expect(`${login}${stranger}`).not.toMatch(/wrong-guess|secret of app/);
  },
);

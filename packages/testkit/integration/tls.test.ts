// Servers with certificates of a private authority: connections are encrypted, and strangers are refused.
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  runSql,
  setModelRatios,
  signIn,
  startGateway,
  startMariadb,
  startPostgres,
  startRedis,
  startUpstream,
  type Service,
  type Upstream,
} from "../src/index.ts";
import { createCertificates, type Certificates } from "../src/services/certificates.ts";

const LIMIT = { timeout: 120_000 };

let upstream: Upstream;
let own: Certificates;
let foreign: Certificates;
let redis: Service;
let mariadb: Service;
let postgres: Service;

beforeAll(async () => {
  [upstream, own, foreign] = await Promise.all([startUpstream(), createCertificates(), createCertificates()]);
  [redis, mariadb, postgres] = await Promise.all([
    startRedis({ tls: own, isDurable: true }),
    startMariadb({ tls: own }),
    startPostgres({ tls: own }),
  ]);
  const admin = `${mariadb.url}?ssl=${encodeURIComponent('{"rejectUnauthorized":false}')}`;
  await runSql(admin, "create database tls character set utf8mb4");
}, 120_000);
afterAll(async () => {
  await Promise.all([redis, mariadb, postgres, upstream].map((service) => service?.stop()));
  for (const { ca } of [own, foreign]) await rm(dirname(ca), { recursive: true });
});

function inMariadb(mode: string, ca?: Certificates): string {
  const authority = ca ? `&ssl-ca=${encodeURIComponent(ca.ca)}` : "";
  return `mysql://fairway:fairway@127.0.0.1:${mariadb.port}/tls?ssl-mode=${mode}${authority}`;
}
function inPostgres(mode: string, ca?: Certificates): string {
  const authority = ca ? `&sslrootcert=${encodeURIComponent(ca.ca)}` : "";
  return `${postgres.url}?sslmode=${mode}${authority}`;
}

const start = (database: string, ca: Certificates | undefined, prefix: string) =>
  startGateway({
    database,
    redis: redis.url,
    env: { FAIRWAY_REDIS_PREFIX: prefix, ...(ca && { NODE_EXTRA_CA_CERTS: ca.ca }) },
  });

test.each(["MariaDB", "PostgreSQL"])("a call is served and charged over TLS to %s and Redis", LIMIT, async (name) => {
  const database = name === "MariaDB" ? inMariadb("verify-identity", own) : inPostgres("verify-full", own);
  const gateway = await start(database, own, `${name}:`);
  const root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { sealed: 1 });
  await createChannel(root, { base_url: upstream.url, models: "sealed" });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${await createToken(root)}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sealed", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  expect(await gateway.stop()).toBe(0);
  const again = await start(database, own, `${name}:`);
  const session = await signIn(again.url, "root", ROOT_PASSWORD);
  expect(await session.must("GET", "/api/user/self")).toMatchObject({ request_count: 1 });
  await again.stop();
});

test("a server that no one vouches for is refused with its reason", LIMIT, async () => {
  const known = inPostgres("verify-full", own);
  const refused = await Promise.allSettled([
    start(known, undefined, "stranger:"),
    start(known, foreign, "stranger:"),
    start(inMariadb("verify-identity", foreign), own, "stranger:"),
    start(inMariadb("disabled"), own, "stranger:"),
    start(inPostgres("verify-full", foreign), own, "stranger:"),
    start(inPostgres("disable"), own, "stranger:"),
  ]);
  const reasons = refused.map((result) => (result.status === "rejected" ? String(result.reason) : "served"));
  expect(reasons[0]).toMatch(/FAIRWAY_REDIS_URL cannot be used.*certificate/);
  expect(reasons[1]).toMatch(/FAIRWAY_REDIS_URL cannot be used.*certificate/);
  expect(reasons[2]).toMatch(/FAIRWAY_DATABASE_URL.*certificate/s);
  expect(reasons[3]).toMatch(/FAIRWAY_DATABASE_URL.*(?:secure|Access denied)/s);
  expect(reasons[4]).toMatch(/FAIRWAY_DATABASE_URL.*certificate/s);
  expect(reasons[5]).toMatch(/FAIRWAY_DATABASE_URL.*(?:pg_hba|encryption)/s);
});

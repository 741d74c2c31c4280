import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { resolveGatewayProgram } from "@fairway/testkit/gateway";
import { runSql } from "@fairway/testkit/sql";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  granted,
  createTestAccounts,
  createLogDetail,
  createSettlement,
} from "../billing/ledger/test-harness.contract.ts";
import { quota } from "../billing/money/quota.ts";
import { openRedisHarness } from "../billing/ledger/redis/test-harness.contract.ts";

let folder: string;
let redisUrl: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-commands-"));
  redisUrl = (await freshRedis()).url;
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the program with arguments, like an operator. */
function run(env: Record<string, string>, ...args: string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [resolveGatewayProgram(), ...args], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      FAIRWAY_ENCRYPTION_KEY:
        "new:bmV3IGtleSBmb3IgdGVzdHMsIDMyIGJ5dGVzIGhlcmU=,old:b2xkIGtleSBmb3IgdGVzdHMsIDMyIGJ5dGVzIGhlcmU=",
      FAIRWAY_DATA_DIR: folder,
      ...env,
    },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (out += chunk.toString()));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
}

test("the audit finds what differs, repairs it when asked, and says so by its exit code", async () => {
  const url = await createDatabase("sqlite");
  const prefix = "audit:";
  const harness = await openRedisHarness(url, { redisUrl, prefix });
  const accounts = createTestAccounts(harness);
  const user = await accounts.addUser(0);
  await harness.ledger.change({ requestId: "first", kind: "topup", userId: user, quota: quota(1000) });
  const other = await accounts.addUser(0);
  await harness.ledger.change({ requestId: "second", kind: "topup", userId: other, quota: quota(500) });
  await harness.ledger.settle(createSettlement(await granted(harness.ledger, user, 0, 100), 70));
  await harness.ledger.settle(createSettlement(await granted(harness.ledger, other, 0, 10), 5));
  await harness.ledger.flush();
  const env = { FAIRWAY_DATABASE_URL: url, FAIRWAY_REDIS_URL: redisUrl, FAIRWAY_REDIS_PREFIX: prefix };
  const calm = await run(env, "ledger", "audit");
  expect(calm.out).toContain(
    "2 live balances compared, the ledger of every user, token and channel summed up: 0 differences.",
  );
  expect(calm.code).toBe(0);
  await harness.redis.sendOne({ command: "hincrby", args: [harness.redis.keys.user(user), "b", 20] }, 1_000);
  await harness.database.run("update users set quota = quota + 1000 where id = ?", [other]);
  const found = await run(env, "ledger", "audit");
  expect(found.code).toBe(1);
  expect(found.out).toContain(`user ${user}: live balance is 950, should be 930 (+20)`);
  expect(found.out).toContain(`user ${other}: balance is 1495, should be 495 (+1000)`);
  expect(found.out).toContain("summed up: 2 differences");
  expect((await run(env, "ledger", "audit", "--repair")).out).toContain("live balances are read again");
  expect((await accounts.user(other)).quota).toBe(495);
  expect((await run(env, "ledger", "audit")).code).toBe(0);
  expect((await run({ FAIRWAY_DATABASE_URL: url }, "ledger", "audit")).out).toContain("0 live balances compared");
  expect((await run(env, "ledger", "count")).out).toContain("fairway-gateway ledger audit [--repair]");
  await harness.close();
}, 180_000);

test("migrates the schema and reseals secrets from the command line", async () => {
  const env = { FAIRWAY_DATABASE_URL: await createDatabase("sqlite"), FAIRWAY_MIGRATE: "verify" };
  expect((await run(env, "reseal")).out).toContain("FAIRWAY_MIGRATE=auto");
  expect(await run(env, "migrate")).toMatchObject({
    code: 0,
    out: expect.stringContaining("this program's schema") as unknown,
  });
  expect(await run(env, "reseal")).toMatchObject({
    code: 0,
    out: expect.stringContaining("0 texts sealed") as unknown,
  });
}, 180_000);

test("`migrate` makes the account root when it has a password for it", async () => {
  const url = await createDatabase("sqlite");
  const names = () => runSql(url, "select username from users");
  await run({ FAIRWAY_DATABASE_URL: url }, "migrate");
  expect(await names()).toEqual([]);
  for (const password of ["first-password", "second-password"])
    expect((await run({ FAIRWAY_DATABASE_URL: url, FAIRWAY_ROOT_PASSWORD: password }, "migrate")).code).toBe(0);
  expect(await names()).toEqual([{ username: "root" }]);
}, 180_000);

test("a second database under one prefix is refused in a sentence", async () => {
  const env = { FAIRWAY_REDIS_URL: redisUrl, FAIRWAY_REDIS_PREFIX: "shared:" };
  expect((await run({ ...env, FAIRWAY_DATABASE_URL: await createDatabase("sqlite") }, "ledger", "audit")).code).toBe(0);
  const second = await run({ ...env, FAIRWAY_DATABASE_URL: await createDatabase("sqlite") }, "ledger", "audit");
  expect(second.code).toBe(1);
  expect(second.out).toMatch(/^fairway: the Redis of FAIRWAY_REDIS_URL cannot be used: .*belong to another database/m);
  expect(
    (
      await run(
        { ...env, FAIRWAY_REDIS_PREFIX: "{x}", FAIRWAY_DATABASE_URL: await createDatabase("sqlite") },
        "ledger",
        "audit",
      )
    ).out,
  ).toContain("FAIRWAY_REDIS_PREFIX must not contain braces or spaces");
}, 180_000);

// @weakness Money: Log rows of charges are lost, and no audit says so
test("the audit finds charges without a log row, and restores the rows from the ledger", async () => {
  const url = await createDatabase("sqlite");
  const prefix = "audit-logs:";
  const harness = await openRedisHarness(url, { redisUrl, prefix });
  const accounts = createTestAccounts(harness);
  const user = await accounts.addUser(0);
  await harness.ledger.change({ requestId: "first", kind: "topup", userId: user, quota: quota(1000) });
  for (const amount of [70, 30, 5]) {
    const hold = await granted(harness.ledger, user, 0, 100);
    await harness.ledger.settle(createSettlement(hold, amount, { log: createLogDetail(0, {}) }));
  }
  await harness.ledger.flush();
  await harness.database.run("update ledger set created_at = 1700000100000", []);
  await harness.database.run("update logs set created_at = 1700000000 where quota = 5", []);
  await harness.database.run("delete from logs where quota in (70, 30)", []);
  await harness.close();
  const env = { FAIRWAY_DATABASE_URL: url };
  const found = await run(env, "ledger", "audit");
  expect(found.out).toContain(`user ${user}, channel 0: log rows is 0, should be 100 (-100)`);
  expect(found.code).toBe(1);
  expect((await run(env, "ledger", "audit", "--repair")).out).toContain("lost log rows are restored");
  const calm = await run(env, "ledger", "audit");
  expect(calm.out).toContain("0 differences");
  expect(calm.code).toBe(0);
});

/** Creates a database with charges of these amounts, some minutes old, and then damages their log rows. */
async function chargedDatabase(prefix: string, amounts: readonly number[], ...changes: readonly string[]) {
  const url = await createDatabase("sqlite");
  const harness = await openRedisHarness(url, { redisUrl, prefix });
  const user = await createTestAccounts(harness).addUser(0);
  await harness.ledger.change({ requestId: "first", kind: "topup", userId: user, quota: quota(1000) });
  for (const amount of amounts) {
    const hold = await granted(harness.ledger, user, 0, 100);
    await harness.ledger.settle(createSettlement(hold, amount, { log: createLogDetail(0, {}) }));
  }
  await harness.ledger.flush();
  await harness.database.run("update ledger set created_at = 1700000100000", []);
  await harness.database.run("update logs set created_at = 1700000000", []);
  for (const change of changes) await harness.database.run(change, []);
  await harness.close();
  return { user, audit: (...flags: string[]) => run({ FAIRWAY_DATABASE_URL: url }, "ledger", "audit", ...flags) };
}

// @weakness Money: The log row of a charge has another amount than the ledger
test("the audit finds log rows with another amount than the ledger, and sets them right", async () => {
  const wrong = "update logs set quota = 1 where quota = 70";
  const { user, audit } = await chargedDatabase("audit-amounts:", [70, 5], wrong);
  expect((await audit()).out).toContain(`user ${user}, channel 0: log amounts is 1, should be 70 (-69)`);
  expect((await audit("--repair")).out).toContain(`user ${user}, channel 0: log amounts is 1, should be 70 (-69)`);
  expect((await audit()).out).toContain("0 differences");
});

test("the audit finds that all log rows of charges are lost", async () => {
  const { user, audit } = await chargedDatabase("audit-all:", [70, 5], "delete from logs");
  expect((await audit()).out).toContain(`user ${user}, channel 0: log rows is 0, should be 75 (-75)`);
  expect((await audit("--repair")).out).toContain("lost log rows are restored");
  expect((await audit()).out).toContain("0 differences");
});

test("the audit expects no log rows of the time when LogConsumeEnabled was off", async () => {
  const option = (from: string, to: string, at: number) =>
    `insert into option_history ("key", old_value, new_value, user_id, created_at) values ('LogConsumeEnabled', ${from}, ${to}, 1, ${at})`;
  const { user, audit } = await chargedDatabase(
    "audit-off:",
    [70, 30, 5],
    option("null", "'false'", 1_700_001_000),
    option("'false'", "'true'", 1_700_002_000),
    "update ledger set created_at = 1700001500000 where quota = -70",
    "update ledger set created_at = 1700002500000 where quota = -30",
    "delete from logs where quota in (70, 30)",
  );
  expect((await audit()).out).toContain(`user ${user}, channel 0: log rows is 0, should be 30 (-30)`);
});

test("the audit finds the limit of a token that Redis knows differently, and changes it only to repair", async () => {
  const url = await createDatabase("sqlite");
  const prefix = "audit-grants:";
  const harness = await openRedisHarness(url, { redisUrl, prefix });
  const accounts = createTestAccounts(harness);
  const user = await accounts.addUser(0);
  await harness.ledger.change({ requestId: "first", kind: "topup", userId: user, quota: quota(1000) });
  const token = await accounts.addToken(user, 500);
  await harness.ledger.settle(createSettlement(await granted(harness.ledger, user, token, 100), 70));
  await harness.ledger.flush();
  await harness.redis.sendOne({ command: "hset", args: [harness.redis.keys.token(user, token), "g", 2_926] }, 1_000);
  await harness.redis.sendOne({ command: "hincrby", args: [harness.redis.keys.token(user, token), "b", 13] }, 1_000);
  const env = { FAIRWAY_DATABASE_URL: url, FAIRWAY_REDIS_URL: redisUrl, FAIRWAY_REDIS_PREFIX: prefix };
  for (const attempt of [1, 2]) {
    const found = await run(env, "ledger", "audit");
    expect(found.out, `audit ${attempt}`).toContain(`token ${token}: live grant is 2926, should be 500 (+2426)`);
    expect(found.out).toContain(`token ${token}: live balance is -57, should be -70 (+13)`);
  }
  expect((await run(env, "ledger", "audit", "--repair")).out).toContain("2 differences");
  expect((await run(env, "ledger", "audit")).out).toContain("0 differences");
  await harness.close();
});

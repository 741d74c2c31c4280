// Three replicas pay from the wallet of a team: as many calls as it has money for, whatever runs, leaves or dies.
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import { ENCRYPTION_KEY, resolveGatewayProgram } from "../src/gateway.ts";
import {
  createChannel,
  ROOT_PASSWORD,
  runSql,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "../src/index.ts";

const PARALLEL = 200;
const KEYS = 5;
/** Units of one call, which is also what a call reserves: so exactly as many calls pass as are paid. */
const PRICE = 1_000;
const MODELS = { paid: "slow-100", streamed: "slow-200+long-10" } as const;
const PASSWORD = "a good password";
/** Leases of a process that died end after a minute. */
const REAPED_MS = 150_000;

let upstream: Upstream;
beforeAll(async () => void (upstream = await startUpstream()));
afterAll(() => upstream?.stop());

interface Team {
  readonly id: number;
  readonly account_id: number;
}

interface Call {
  readonly startedAt: number;
  readonly status: number;
  readonly text: string;
}

describe.each([
  ["postgres", true, 2_000],
  ["mariadb", false, 5_000],
] as const)("three replicas on %s, with Redis: %s", (kind, hasRedis, cutMs) => {
  const name = hasRedis ? `${kind} with Redis` : kind;
  let replicas: GatewayProcess[] = [];
  let env: Record<string, string>;
  let database: string;
  let root: Session;
  let adam: Session;
  let mia: Session;

  beforeAll(async () => {
    database = await createDatabase(kind);
    const redis = hasRedis ? { redis: (await freshRedis({ isDurable: true })).url } : {};
    env = { FAIRWAY_DATABASE_URL: database, ...(hasRedis && { FAIRWAY_REDIS_URL: redis.redis ?? "" }) };
    // The schema is made beforehand, so that a busy machine does not count it as a part of the start.
    await run("migrate");
    const first = await startGateway({ database, ...redis });
    replicas = [first];
    replicas.push(...(await Promise.all([startGateway({ database, ...redis }), startGateway({ database, ...redis })])));
    root = await signIn(first.url, "root", ROOT_PASSWORD);
    const price = PRICE / 500_000;
    await setOptions(root, { ModelPrice: JSON.stringify({ paid: price, streamed: price }) });
    await createChannel(root, {
      base_url: upstream.url,
      models: Object.keys(MODELS).join(","),
      model_mapping: JSON.stringify(MODELS),
    });
    for (const username of ["adam", "mia"]) await root.must("POST", "/api/user/", { username, password: PASSWORD });
    adam = await signIn(first.url, "adam", PASSWORD);
    mia = await signIn(first.url, "mia", PASSWORD);
    await untilRead();
  }, 300_000);
  afterAll(() => Promise.all(replicas.map((replica) => replica.stop())), 120_000);

  /** Without Redis, replicas read changes every five seconds. */
  const untilRead = () => sleep(hasRedis ? 1_000 : 6_000);

  async function startTeam(title: string, quota: number): Promise<Team> {
    const team = await root.must<Team>("POST", "/api/team/", { name: title });
    await root.must("POST", `/api/team/${team.id}/members`, { user_id: adam.userId, role: "admin" });
    await root.must("POST", `/api/team/${team.id}/members`, { user_id: mia.userId, role: "member" });
    await root.must("POST", `/api/team/${team.id}/adjust`, { quota });
    return team;
  }

  const makeKeys = (who: Session, team: Team, count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const body = { name: `key ${at}`, unlimited_quota: true };
        return (await who.must<{ key: string }>("POST", `/api/team/${team.id}/token/`, body)).key;
      }),
    );

  async function ask(at: number, key: string, model: keyof typeof MODELS = "paid"): Promise<Call> {
    const startedAt = performance.now();
    const response = await fetch(`${replicas[at % replicas.length]?.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream: model === "streamed", messages: [{ role: "user", content: "hi" }] }),
    });
    return { startedAt, status: response.status, text: await response.text().catch(() => "") };
  }

  const askAtOnce = (keys: readonly string[], count = PARALLEL) =>
    Promise.all(Array.from({ length: count }, (_, at) => ask(at, keys[at % keys.length] ?? "")));
  const count = (calls: readonly Call[], status: number) => calls.filter((call) => call.status === status).length;

  const readAccount = async (id: number) => {
    const [row = {}] = await runSql(database, `select quota, used_quota, request_count from users where id = ${id}`);
    return { quota: Number(row["quota"]), used: Number(row["used_quota"]), calls: Number(row["request_count"]) };
  };

  /** Runs a command of the program next to the replicas. */
  const run = (...command: readonly string[]) =>
    new Promise<string>((resolve) => {
      const settings = { env: { ...process.env, FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY, ...env } };
      execFile(process.execPath, [resolveGatewayProgram(), ...command], settings, (_error, out, err) =>
        resolve(out + err),
      );
    });
  /** Charges that are still on their way are no difference. */
  const checkAudit = () =>
    expect.poll(() => run("ledger", "audit"), { timeout: 60_000, interval: 500 }).toContain(": 0 differences.");

  test("of 200 calls at once, exactly as many pass as the wallet pays for, and its members pay nothing", async () => {
    const team = await startTeam("Wallet", 50 * PRICE);
    const keys = await makeKeys(mia, team, KEYS);
    const before = await readAccount(mia.userId);
    const began = performance.now();
    const calls = await askAtOnce(keys);
    console.info(
      `${name}: ${count(calls, 200)} of ${PARALLEL} calls at once were paid by a wallet for 50, in ${Math.round(performance.now() - began)} ms`,
    );
    expect([count(calls, 200), count(calls, 403)]).toEqual([50, 150]);
    await expect.poll(() => readAccount(team.account_id)).toEqual({ quota: 0, used: 50 * PRICE, calls: 50 });
    expect(await readAccount(mia.userId)).toEqual(before);
    await checkAudit();
  }, 300_000);

  test("the cap of one member lets exactly as many pass, and no one else is refused", async () => {
    const team = await startTeam("Caps", 100_000 * PRICE);
    const [own, other] = [await makeKeys(mia, team, KEYS), await makeKeys(adam, team, 1)];
    const cap = { scope: "member", subject: "mia", period: "total", quota_limit: 30 * PRICE };
    await adam.must("POST", `/api/team/${team.id}/budget/`, cap);
    await untilRead();
    const [calls, ofOther] = await Promise.all([askAtOnce(own), askAtOnce(other, 20)]);
    console.info(`${name}: ${count(calls, 200)} of ${PARALLEL} calls at once passed the cap for 30 of a member`);
    expect([count(calls, 200), count(calls, 403)]).toEqual([30, 170]);
    expect(count(ofOther, 200)).toBe(20);
    const refused = calls.find(({ status }) => status === 403);
    expect(refused?.text).toContain("The total budget of member mia of team Caps is used up.");
    await checkAudit();
  }, 300_000);

  test("a budget of the team lets exactly as many pass, and reports each threshold once", async () => {
    const team = await startTeam("Thresholds", 100_000 * PRICE);
    const keys = [...(await makeKeys(mia, team, 3)), ...(await makeKeys(adam, team, 2))];
    const terms = { scope: "team", period: "day", quota_limit: 40 * PRICE, thresholds: [50, 80, 95] };
    await adam.must("POST", `/api/team/${team.id}/budget/`, terms);
    await untilRead();
    const calls = await askAtOnce(keys);
    expect([count(calls, 200), count(calls, 403)]).toEqual([40, 160]);
    const readPercents = async () => {
      const rows = await runSql(database, `select data from events where type = 'budget.threshold' order by id`);
      const data = rows.map((row) => JSON.parse(String(row["data"])) as { scope: string; percent: number });
      return data.filter(({ scope }) => scope === "team").map(({ percent }) => percent);
    };
    await expect.poll(async () => new Set(await readPercents()), { timeout: 30_000 }).toEqual(new Set([50, 80, 95]));
    const exhausted = `select count(*) as n from events where type = 'budget.exhausted' and data like '%"scope":"team"%'`;
    await sleep(2_000);
    const all = await readPercents();
    console.info(`${name}: ${PARALLEL} calls at once passed ${all.length} thresholds in ${all.length} events`);
    expect(all).toHaveLength(3);
    expect((await runSql(database, exhausted)).map(({ n }) => Number(n))).toEqual([1]);
    await checkAudit();
  }, 300_000);

  test(`who leaves ends a stream in peace, and no call with that key starts ${cutMs} ms later on any replica`, async () => {
    const team = await startTeam("Leaving", 100_000 * PRICE);
    const [key = ""] = await makeKeys(mia, team, 1);
    await Promise.all(replicas.map(async (_, at) => expect((await ask(at, key)).status).toBe(200)));
    const calls: Call[] = [];
    let isOver = false;
    const callers = Promise.all(
      replicas.map(async (_, at) => {
        while (!isOver) calls.push(await ask(at, key));
      }),
    );
    const stream = ask(2, key, "streamed");
    await sleep(800);
    await mia.must("POST", `/api/team/${team.id}/leave`, {});
    const leftAt = performance.now();
    const { status, text } = await stream;
    expect([status, text]).toEqual([200, expect.stringContaining("[DONE]")]);
    await sleep(Math.max(0, leftAt + cutMs + 1_500 - performance.now()));
    isOver = true;
    await callers;
    const served = calls.filter((call) => call.status === 200);
    const latest = Math.max(...served.map(({ startedAt }) => startedAt - leftAt));
    console.info(`${name}: the last call that was served began ${Math.round(latest)} ms after its maker had left`);
    expect(latest).toBeLessThan(cutMs);
    expect(new Set(calls.map((call) => call.status))).toEqual(new Set([200, 401]));
    const charged = served.length + replicas.length + 1;
    await expect.poll(async () => (await readAccount(team.account_id)).calls).toBe(charged);
    expect((await readAccount(team.account_id)).used).toBe(charged * PRICE);
    await checkAudit();
  }, 300_000);

  test("a replica that is killed meanwhile loses no money, and what is left pays for exactly the rest", async () => {
    const team = await startTeam("Killed", 50 * PRICE);
    const keys = await makeKeys(adam, team, KEYS);
    const calls = Promise.allSettled(
      Array.from({ length: PARALLEL }, (_, at) => ask(at, keys[at % KEYS] ?? "", at % 2 === 0 ? "streamed" : "paid")),
    );
    await sleep(700);
    await replicas.pop()?.kill();
    const delivered = (await calls).filter(
      (call) => call.status === "fulfilled" && call.value.status === 200 && /\[DONE\]|usage/.test(call.value.text),
    ).length;
    const readHeld = async () => {
      const [row = {}] = await runSql(database, `select held from users where id = ${team.account_id}`);
      return Number(row["held"]);
    };
    await expect.poll(readHeld, { timeout: REAPED_MS, interval: 500 }).toBe(0);
    // A ledger in Redis books what was reaped later: the balance below counts that as spent.
    const askMore = async () => (await ask(0, keys[0] ?? "")).status;
    let more = 0;
    await expect
      .poll(
        async () => {
          const status = await askMore();
          if (status === 200) more += 1;
          return [status, (await readAccount(team.account_id)).quota < PRICE];
        },
        { timeout: REAPED_MS, interval: 200 },
      )
      .toEqual([403, true]);
    await checkAudit();
    const { quota, used } = await readAccount(team.account_id);
    expect([quota >= 0, quota + used]).toEqual([true, 50 * PRICE]);
    expect(used).toBeGreaterThanOrEqual((delivered + more) * PRICE);
    const twice = `select request_id from ledger where user_id = ${team.account_id} and kind = 'consume' group by request_id having count(*) > 1`;
    expect(await runSql(database, twice)).toEqual([]);
    console.info(
      `${name}: one of three replicas was killed: ${delivered} answers were delivered, ${more} more were paid, and ${used / PRICE} of 50 charged`,
    );
  }, 400_000);
});

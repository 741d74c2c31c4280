// Many calls about batches at the same time: a balance, a limit and a result are each used once.
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkDeposits } from "../../../src/billing/audit/deposits.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { createTenant } from "../../kit/tenants.ts";
import { readLedger, startBatchApp, type BatchApp } from "./batch-kit.ts";

/** 100 input and 50 output tokens at 0.5 and 2.5 dollars for a million, rounded for each item. */
const CHARGE = 88;
const READS = 1_000;
const READERS = 8;

describe.each([
  ["sqlite", false],
  ["mariadb", true],
  ["postgres", false],
] as const)("on %s, with Redis: %s", (kind, hasRedis) => {
  let app: BatchApp;
  beforeAll(async () => {
    app = await startBatchApp({
      FAIRWAY_DATABASE_URL: await createDatabase(kind),
      ...(hasRedis && { FAIRWAY_REDIS_URL: (await freshRedis()).url }),
    });
  }, 240_000);
  afterAll(() => app.gateway.close());
  beforeEach(() => app.gateway.upstream.reset());
  afterEach(async () => {
    await app.gateway.settled();
    const { raw } = app.gateway.database;
    const checks = [checkLedgerSums(raw), checkCounters(raw), checkDeposits(raw)];
    expect(await Promise.all(checks)).toEqual([[], [], []]);
  });

  const body = () => `{"requests":[${app.item("a")}]}`;
  const createMany = async (count: number, key: string, headers = {}) => {
    const answers = await Promise.all(Array.from({ length: count }, () => app.create(body(), key, headers)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    return answers.map(({ status }, at) => ({ status, text: texts[at] ?? "" }));
  };
  const countOf = (answers: readonly { readonly status: number }[], wanted: number) =>
    answers.filter(({ status }) => status === wanted).length;
  const findBatches = (phase: "open" | "refused", userId: number) =>
    app.gateway.database.db
      .selectFrom("batches")
      .selectAll()
      .where("phase", "=", phase)
      .where("user_id", "=", userId)
      .execute();

  /** A user with this balance, as the database has it. */
  async function addUser(quota: number) {
    const key = await createTenant(app.gateway, quota);
    const users = app.gateway.database.db.selectFrom("users").select("id").orderBy("id", "desc");
    const { id } = await users.executeTakeFirstOrThrow();
    const readUser = () => app.gateway.root.must<{ quota: number; used_quota: number }>("GET", `/api/user/${id}`);
    return { id, key, readUser };
  }

  it("a balance for three batches opens three of 50, and returns to the unit what they do not cost", async () => {
    await app.gateway.option("BatchMaxOpenPerUser", 0);
    const probe = await addUser(1_000_000);
    await createMany(1, probe.key);
    const deposit = (await findBatches("open", probe.id))[0]?.deposit ?? 0;
    app.gateway.upstream.reset();

    const quota = 4 * deposit - 1;
    const { id, key, readUser } = await addUser(quota);
    const answers = await createMany(50, key);
    expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([3, 47]);
    const refused = answers.filter(({ status }) => status === 402);
    expect(refused.every(({ text }) => text.includes("Your balance is too low"))).toBe(true);
    expect(app.gateway.upstream.batches.batches.size).toBe(3);
    const open = await findBatches("open", id);
    expect(open.map((row) => row.deposit)).toEqual([deposit, deposit, deposit]);
    expect(await findBatches("refused", id)).toHaveLength(47);
    await expect.poll(async () => (await readUser()).quota).toBe(quota - 3 * deposit);

    for (const row of open) {
      app.gateway.upstream.batches.end(row.upstream_id);
      await app.makeDue(row.id);
    }
    await expect.poll(() => findBatches("open", id), { timeout: 20_000 }).toEqual([]);
    const paid = { quota: quota - 3 * CHARGE, used_quota: 3 * CHARGE };
    await expect.poll(readUser, { timeout: 20_000 }).toMatchObject(paid);
  }, 240_000);

  it("a limit of open batches holds for creations at the same time, and each refused one can come later", async () => {
    await app.gateway.option("BatchMaxOpenPerUser", 4);
    const { id, key } = await addUser(1_000_000);
    const answers = await createMany(20, key);
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([4, 16]);
    expect(app.gateway.upstream.batches.batches.size).toBe(4);
    const [first] = await findBatches("open", id);
    app.gateway.upstream.batches.end(first?.upstream_id ?? "");
    await app.makeDue(first?.id ?? "");
    await expect.poll(async () => (await findBatches("open", id)).length, { timeout: 20_000 }).toBe(3);
    expect(countOf(await createMany(3, key), 200)).toBe(1);
  }, 240_000);

  it("equal creations with one idempotency key open one batch, also when it takes the last place", async () => {
    await app.gateway.option("BatchMaxOpenPerUser", 1);
    const { id, key } = await addUser(1_000_000);
    const headers = { "idempotency-key": "nightly" };
    const answers = await createMany(10, key, headers);
    // The call may come again while the first one is still under way.
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(countOf(answers, 200)).toBeGreaterThan(0);
    const [again] = await createMany(1, key, headers);
    expect([again?.status, again?.text]).toEqual([200, answers.find(({ status }) => status === 200)?.text]);
    expect(await findBatches("open", id)).toHaveLength(1);
    expect(app.gateway.upstream.batches.batches.size).toBe(1);
  }, 240_000);

  it(`${READS} reads of ${READERS} clients while a batch ends and is booked charge it once`, async () => {
    await app.gateway.option("BatchMaxOpenPerUser", 0);
    const { id, upstreamId } = await app.open(["a", "b"]);
    app.gateway.upstream.batches.end(upstreamId);
    await app.makeDue(id);
    const paths = [`/${id}`, `/${id}/results`, "?limit=5", `/${id}`];
    const statuses: Record<string, Set<number>> = {};
    const read = async (reader: number) => {
      for (let call = 0; call < READS / READERS; call++) {
        const path = paths[(call + reader) % paths.length] ?? "";
        const response = await app.call("GET", path);
        await response.arrayBuffer();
        (statuses[path] ??= new Set()).add(response.status);
      }
    };
    await Promise.all(Array.from({ length: READERS }, (_none, reader) => read(reader)));
    await app.settle(id);
    const results = statuses[`/${id}/results`] ?? new Set();
    expect([statuses[`/${id}`], statuses["?limit=5"]]).toEqual([new Set([200]), new Set([200])]);
    // There are none before the gateway has seen the end.
    expect(results.has(200)).toBe(true);
    expect([...results].every((status) => status === 200 || status === 409)).toBe(true);
    const rows = app.gateway.database.db.selectFrom("batches").selectAll().where("id", "=", id);
    const row = await rows.executeTakeFirstOrThrow();
    expect((await readLedger(app.gateway, row.request_id)).map(({ kind, quota }) => [kind, quota])).toEqual([
      ["deposit", -row.deposit],
      ["return", row.deposit],
      ["consume", -2 * CHARGE],
    ]);
    // A read asks the upstream at most every ten seconds, however many clients read.
    expect(app.gateway.upstream.batches.batches.get(upstreamId)?.polls).toBeLessThan(20);
  }, 240_000);
});

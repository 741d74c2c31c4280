import { eachDatabase } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createLog } from "../observability/log.ts";
import { openDatabase, type Database } from "../storage/database.ts";
import { migrate } from "../storage/schema/migrate.ts";
import { createTokenCache } from "./tokens.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });

eachDatabase("the token cache", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = openDatabase({ url: await open(), log });
    await migrate(database, { log, mode: "auto" });
    const user = { password: "", display_name: "", role: 1, status: 1, quota: 0, created_at: 0 };
    await database.db
      .insertInto("users")
      .values([
        { ...user, id: 1, username: "ann", username_key: "ann", group: "vip", aff_code: "a" },
        { ...user, id: 2, username: "bob", username_key: "bob", group: "default", aff_code: "b", deleted_at: 5 },
      ])
      .execute();
    const token = {
      key_sealed: "",
      status: 1,
      created_time: 0,
      accessed_time: 0,
      expired_time: -1,
      remain_quota: 0,
      unlimited_quota: 0,
    };
    const limits = { model_limits_enabled: 0, model_limits: "a, b,,a", allow_ips: "", group: "", deleted_at: null };
    await database.db
      .insertInto("tokens")
      .values([
        { ...token, ...limits, id: 1, user_id: 1, key_hash: "plain", name: "plain", remain_quota: 42 },
        {
          ...token,
          ...limits,
          id: 2,
          user_id: 1,
          key_hash: "bound",
          name: "bound",
          model_limits_enabled: 1,
          allow_ips: "10.0.0.0/8\nnonsense",
          group: "vip",
          unlimited_quota: 1,
          expired_time: 9,
        },
        { ...token, ...limits, id: 3, user_id: 2, key_hash: "left", name: "left", allow_ips: "nonsense" },
        { ...token, ...limits, id: 4, user_id: 9, key_hash: "orphan", name: "orphan" },
        { ...token, ...limits, id: 5, user_id: 1, key_hash: "deleted", name: "deleted", deleted_at: 3 },
      ])
      .execute();
  });
  afterAll(() => database.close());

  const find = (keyHash: string) => createTokenCache({ raw: database.raw, clock: { now: () => 0 } }).find(keyHash);

  test("reads a token with its owner", async () => {
    expect(await find("plain")).toEqual({
      id: 1,
      keyHash: "plain",
      name: "plain",
      status: 1,
      expiredTime: -1,
      isUnlimited: false,
      remainQuota: 42,
      usedQuota: 0,
      revision: 0,
      modelLimits: undefined,
      allowedNetworks: undefined,
      group: "",
      memberId: 0,
      serviceAccountId: 0,
      user: { id: 1, username: "ann", role: 1, status: 1, group: "vip", isDeleted: false },
    });
  });

  test("reads its limits", async () => {
    const token = await find("bound");
    expect(token).toMatchObject({ isUnlimited: true, expiredTime: 9, group: "vip" });
    expect([...(token?.modelLimits ?? [])]).toEqual(["a", "b"]);
    expect(token?.allowedNetworks?.map((network) => network.contains("10.9.9.9"))).toEqual([true]);
  });

  test("denies every address when the list has no valid line", async () => {
    expect((await find("left"))?.allowedNetworks).toEqual([]);
  });

  test("marks tokens whose owner was deleted", async () => {
    expect((await find("left"))?.user.isDeleted).toBe(true);
    expect((await find("orphan"))?.user).toMatchObject({ id: 9, isDeleted: true, status: 2 });
  });

  test("does not find deleted tokens or keys in another letter case", async () => {
    expect(await find("deleted")).toBeUndefined();
    expect(await find("PLAIN")).toBeUndefined();
  });
});

describe("the token cache", () => {
  let now: number;
  let questions: string[];
  let answers: ((rows: unknown[]) => void)[];
  let hits: boolean[];
  const row = (id: number, userId: number) => [
    { id, user_id: userId, model_limits: "", allow_ips: "", username: "x", user_deleted_at: null },
  ];
  const cache = (capacity?: number) =>
    createTokenCache({
      raw: {
        rows: <Row>(sql: string, [keyHash]: readonly unknown[]) => {
          if (sql.includes("token_keys")) return Promise.resolve<Row[]>([]);
          questions.push(String(keyHash));
          return new Promise<Row[]>((resolve) => answers.push(resolve as (rows: unknown[]) => void));
        },
      },
      clock: { now: () => now },
      onFind: (isHit) => hits.push(isHit),
      ...(capacity === undefined ? {} : { capacity }),
    });

  beforeEach(() => {
    now = 0;
    questions = [];
    answers = [];
    hits = [];
  });
  const learn = async (tokens: ReturnType<typeof cache>, keyHash: string, rows: unknown[]) => {
    const found = tokens.find(keyHash);
    answers.at(-1)?.(rows);
    return found;
  };

  test("queries once for many requests, and again after a minute", async () => {
    const tokens = cache();
    const [first, second] = [tokens.find("a"), tokens.find("a")];
    answers[0]?.(row(1, 1));
    expect((await first)?.id).toBe(1);
    expect((await second)?.id).toBe(1);
    now = 59_999;
    await tokens.find("a");
    expect(questions).toEqual(["a"]);
    expect(hits).toEqual([false, false, true]);
    now = 60_000;
    await learn(tokens, "a", row(1, 1));
    expect(questions).toEqual(["a", "a"]);
  });

  test("forgets unknown keys after five seconds", async () => {
    const tokens = cache();
    expect(await learn(tokens, "x", [])).toBeUndefined();
    now = 4_999;
    expect(await tokens.find("x")).toBeUndefined();
    now = 5_000;
    expect((await learn(tokens, "x", row(1, 1)))?.id).toBe(1);
  });

  test("drops a token, all tokens of a user, or everything", async () => {
    const tokens = cache();
    for (const [keyHash, id, user] of [
      ["a", 1, 1],
      ["b", 2, 1],
      ["c", 3, 2],
    ] as const)
      await learn(tokens, keyHash, row(id, user));
    const listKnown = async () => {
      questions = [];
      for (const keyHash of ["a", "b", "c"]) void tokens.find(keyHash);
      const asked = [...questions];
      for (const [at, keyHash] of asked.entries())
        answers[answers.length - asked.length + at]?.(row({ a: 1, b: 2, c: 3 }[keyHash] ?? 0, keyHash === "c" ? 2 : 1));
      await Promise.all(["a", "b", "c"].map((keyHash) => tokens.find(keyHash)));
      return ["a", "b", "c"].filter((keyHash) => !asked.includes(keyHash));
    };
    tokens.dropToken(2);
    expect(await listKnown()).toEqual(["a", "c"]);
    tokens.dropUser(1);
    expect(await listKnown()).toEqual(["c"]);
    tokens.clear();
    expect(await listKnown()).toEqual([]);
    expect(await listKnown()).toEqual(["a", "b", "c"]);
  });

  test("does not cache a result that may be older than a change", async () => {
    const tokens = cache();
    const stale = tokens.find("a");
    tokens.dropToken(1);
    const fresh = tokens.find("a");
    answers[0]?.(row(1, 1));
    await stale;
    answers[1]?.(row(1, 1));
    await fresh;
    expect(questions).toEqual(["a", "a"]);
    await tokens.find("a");
    expect(questions).toEqual(["a", "a"]);
  });

  test("queries again after a failure", async () => {
    let isDown = true;
    const tokens = createTokenCache({
      raw: { rows: async <Row>() => (isDown ? Promise.reject(new Error("down")) : (row(1, 1) as Row[])) },
      clock: { now: () => 0 },
    });
    await expect(tokens.find("a")).rejects.toMatchObject({ code: "balances_unavailable", status: 503 });
    isDown = false;
    expect((await tokens.find("a"))?.id).toBe(1);
  });

  test("uses cached tokens for ten minutes while the database is unavailable, but not after a change", async () => {
    let isDown = false;
    let now = 0;
    const tokens = createTokenCache({
      raw: { rows: async <Row>() => (isDown ? Promise.reject(new Error("down")) : (row(1, 1) as Row[])) },
      clock: { now: () => now },
    });
    await tokens.find("a");
    isDown = true;
    now = 600_000;
    expect((await tokens.find("a"))?.id).toBe(1);
    await expect(tokens.find("never seen")).rejects.toMatchObject({ status: 503 });
    now = 661_000;
    await expect(tokens.find("a")).rejects.toMatchObject({ status: 503 });
    now = 600_000;
    tokens.dropToken(1);
    await expect(tokens.find("a")).rejects.toMatchObject({ status: 503 });
  });

  describe("while the database is silent", () => {
    let isSilent: boolean;
    let isClosed: boolean;
    const silent = () =>
      createTokenCache({
        raw: {
          rows: <Row>() => {
            questions.push("");
            return isSilent ? new Promise<Row[]>(() => {}) : Promise.resolve(row(1, 1) as Row[]);
          },
        },
        clock: { now: () => now },
        isClosed: () => isClosed,
      });
    beforeEach(() => {
      vi.useFakeTimers();
      isSilent = false;
      isClosed = false;
    });
    afterEach(() => void vi.useRealTimers());
    const createKnownTokens = async () => {
      const tokens = silent();
      await tokens.find("a");
      isSilent = true;
      now = 60_000;
      return tokens;
    };
    const hasAnswered = async (found: Promise<unknown>, ms: number) => {
      let isThere = false;
      found.then(
        () => (isThere = true),
        () => (isThere = true),
      );
      await vi.advanceTimersByTimeAsync(ms);
      return isThere;
    };

    test("uses cached tokens after two seconds, and at once for the next requests", async () => {
      const tokens = await createKnownTokens();
      const first = tokens.find("a");
      expect(await hasAnswered(first, 1_900)).toBe(false);
      expect(await hasAnswered(first, 200)).toBe(true);
      expect((await first)?.id).toBe(1);
      const second = tokens.find("a");
      expect(await hasAnswered(second, 20)).toBe(true);
      expect((await second)?.id).toBe(1);
      expect(questions).toHaveLength(2);
    });

    test("queries again and waits again when the database answers", async () => {
      const tokens = await createKnownTokens();
      await hasAnswered(tokens.find("a"), 6_000);
      isSilent = false;
      await hasAnswered(tokens.find("a"), 20);
      expect(questions).toHaveLength(3);
      isSilent = true;
      now = 120_000;
      expect(await hasAnswered(tokens.find("a"), 1_900)).toBe(false);
    });

    test("refuses unknown keys after five seconds", async () => {
      const tokens = await createKnownTokens();
      const found = tokens.find("never seen");
      expect(await hasAnswered(found, 5_100)).toBe(true);
      await expect(found).rejects.toMatchObject({ code: "balances_unavailable" });
    });

    test("refuses waiting requests when it is closed", async () => {
      const tokens = await createKnownTokens();
      const found = tokens.find("a");
      isClosed = true;
      expect(await hasAnswered(found, 2_100)).toBe(true);
      await expect(found).rejects.toMatchObject({ code: "balances_unavailable" });
    });
  });

  test("does not use cached tokens while it is closed", async () => {
    let isClosed = false;
    const tokens = createTokenCache({
      raw: { rows: async <Row>() => row(1, 1) as Row[] },
      clock: { now: () => 0 },
      isClosed: () => isClosed,
    });
    await tokens.find("a");
    isClosed = true;
    await expect(tokens.find("a")).rejects.toMatchObject({ code: "balances_unavailable", retryAfterMs: 5_000 });
    isClosed = false;
    expect((await tokens.find("a"))?.id).toBe(1);
  });

  test("has a size limit", async () => {
    const tokens = cache(2);
    for (const keyHash of ["a", "b", "c"]) await learn(tokens, keyHash, row(1, 1));
    questions = [];
    await tokens.find("b");
    const dropped = tokens.find("a");
    expect(questions).toEqual(["a"]);
    answers.at(-1)?.(row(1, 1));
    await dropped;
  });
});

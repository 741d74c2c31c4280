import { keyHint, MAX_OLD_KEYS, type RotatedKey } from "@fairway/wire";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { createKeyUses } from "../../identity/keys/key-uses.ts";
import type { TokenRecord } from "../../snapshot/types.ts";
import type { SqlValue } from "../../storage/engines/raw.ts";
import { createTokenCache, type ClearableTokenCache } from "../../snapshot/tokens.ts";
import { insertRow } from "../../storage/inserts.ts";
import { tokenFields } from "./input.ts";
import { rotateDueKeys } from "./rotate-due.ts";
import { createTokenRotations, type TokenRotations } from "./rotation.ts";
import { createTokenStore, type TokenStore } from "./store.ts";
import { tokenTag } from "./token-rows.ts";

const OWNER = 7;
const HOUR = 3600;

eachDatabase("the keys of a token", (open) => {
  let kit: StoreKit;
  let store: TokenStore;
  let rotations: TokenRotations;
  let cache: ClearableTokenCache;
  /** A replica that hears of no change. */
  let deaf: ClearableTokenCache;
  const warnings: string[] = [];

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    const account = accountRow({ username: "owner", passwordHash: "", createdAt: START_SECONDS });
    await insertRow(kit.database.db, "users", { ...account, id: OWNER });
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    kit.clock.set(START_SECONDS);
    for (const table of ["tokens", "token_keys", "replicas"] as const)
      await kit.database.db.deleteFrom(table).execute();
    const { raw } = kit.database;
    const log = { warn: (text: string) => void warnings.push(text) };
    const onOldKey = createKeyUses({ raw, clock: kit.clock, log });
    cache = createTokenCache({ raw, clock: kit.clock, onOldKey });
    deaf = createTokenCache({ raw, clock: kit.clock });
    const deps = { ...kit, tokens: cache, announce: async () => cache.clear() };
    store = createTokenStore(deps);
    rotations = createTokenRotations(deps);
  });

  const create = () =>
    store.create(
      OWNER,
      tokenFields({ name: "ci", unlimited_quota: true }, () => true),
    );
  /** Finds the token of a key that works. */
  const find = async (key: string, by = cache): Promise<TokenRecord | undefined> => {
    const record = await by.find(kit.vault.hashKey(key));
    const endsAt = record?.rotation?.keyExpiresAt ?? Infinity;
    return endsAt * 1000 > kit.clock.now() ? record : undefined;
  };
  const rotate = async (id: number, graceSeconds: number): Promise<RotatedKey> => {
    const rotated = await rotations.rotate({ userId: OWNER, id, graceSeconds, by: "owner" });
    if (!rotated) throw new Error("the token is missing");
    return rotated;
  };

  test("both keys find the token during the grace, then the new one alone", async () => {
    const { id, key } = await create();
    expect((await find(key))?.rotation).toBeUndefined();
    const rotated = await rotate(id, HOUR);
    expect(rotated.key).toMatch(/^[0-9A-Za-z]{48}$/);
    expect(rotated.hint).toBe(keyHint(rotated.key));
    const until = START_SECONDS + HOUR;
    expect(rotated.old).toMatchObject([{ hint: keyHint(key), created_at: START_SECONDS, expires_at: until }]);
    expect(await find(key)).toMatchObject({ id, rotation: { hint: keyHint(key), until, keyExpiresAt: until } });
    expect(await find(rotated.key)).toMatchObject({ id, rotation: { hint: rotated.hint, until } });
    expect(await store.get(OWNER, id)).toMatchObject({
      key: rotated.key,
      rotated_at: START_SECONDS,
      old_keys_until: until,
    });

    kit.clock.set(until - 1);
    expect(await find(key)).toMatchObject({ id });
    kit.clock.set(until);
    expect(await find(key)).toBeUndefined();
    expect((await find(rotated.key))?.id).toBe(id);
  });

  test("a copy of a replaced key ends with it, also on a replica that hears of nothing and sees no database", async () => {
    const { id, key } = await create();
    await rotate(id, 30);
    let isAway = false;
    const raw = {
      rows: <Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> =>
        isAway ? Promise.reject(new Error("away")) : kit.database.raw.rows<Row>(sql, values),
    };
    const lonely = createTokenCache({ raw, clock: kit.clock });
    expect((await find(key, lonely))?.id).toBe(id);
    isAway = true;
    kit.clock.set(START_SECONDS + 29);
    expect((await find(key, lonely))?.id).toBe(id);
    kit.clock.set(START_SECONDS + 30);
    await expect(find(key, lonely)).rejects.toMatchObject({ code: "balances_unavailable" });
  });

  test("without a grace the replaced key ends at once", async () => {
    const { id, key } = await create();
    await find(key);
    const rotated = await rotate(id, 0);
    expect(rotated.old).toEqual([]);
    expect(await find(key)).toBeUndefined();
    expect((await find(rotated.key))?.rotation).toBeUndefined();
    expect(await store.get(OWNER, id)).toMatchObject({ old_keys_until: 0 });
  });

  test("of four replaced keys the oldest ends", async () => {
    const { id, key } = await create();
    const keys = [key];
    let last: RotatedKey | undefined;
    for (let i = 0; i <= MAX_OLD_KEYS; i++) {
      kit.clock.set(START_SECONDS + i);
      last = await rotate(id, HOUR - i * 100);
      keys.push(last.key);
    }
    expect(last?.old.map(({ hint }) => hint)).toEqual(keys.slice(1, -1).toReversed().map(keyHint));
    expect(await find(key)).toBeUndefined();
    for (const works of keys.slice(1)) expect((await find(works))?.id).toBe(id);
    const { old_keys_until } = (await store.get(OWNER, id)) ?? {};
    expect(old_keys_until).toBe(Math.max(...(last?.old ?? []).map((old) => old.expires_at)));
  });

  test("the owner ends a replaced key before its time", async () => {
    const { id, key } = await create();
    const second = await rotate(id, HOUR);
    const third = await rotate(id, HOUR / 2);
    const [, oldest] = third.old;
    expect(await rotations.endOld(OWNER + 1, id, oldest?.id ?? 0)).toBe(false);
    expect(await rotations.endOld(OWNER, id, oldest?.id ?? 0)).toBe(true);
    expect(await rotations.endOld(OWNER, id, oldest?.id ?? 0)).toBe(false);
    expect(await find(key)).toBeUndefined();
    expect((await find(second.key))?.id).toBe(id);
    expect((await rotations.listOld(OWNER, id))?.map(({ hint }) => hint)).toEqual([keyHint(second.key)]);
    expect(await store.get(OWNER, id)).toMatchObject({ old_keys_until: START_SECONDS + HOUR / 2 });
  });

  test("of rotations at once, one gives the key and the others learn of the change", async () => {
    const { id } = await create();
    const all = await Promise.allSettled(Array.from({ length: 4 }, () => rotate(id, HOUR)));
    const made = all.filter((one) => one.status === "fulfilled").map(({ value }) => value);
    for (const one of all) if (one.status === "rejected") expect(one.reason).toMatchObject({ key: "entity_changed" });
    // SQLite runs them one after the other, so that each may read the key of the one before.
    expect(made.length).toBeGreaterThan(0);
    const current = (await store.get(OWNER, id))?.key;
    expect(made.map(({ key }) => key)).toContain(current);
    const { count } = await kit.database.db
      .selectFrom("token_keys")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(made.length);
  });

  test("a client that read the token before another rotation is refused", async () => {
    const { id } = await create();
    const seen = tokenTag((await store.get(OWNER, id)) as never);
    const check = (tag: string) => {
      if (tag !== seen) throw new Error("changed");
    };
    await rotations.rotate({ userId: OWNER, id, graceSeconds: 0, by: "owner", check });
    await expect(rotations.rotate({ userId: OWNER, id, graceSeconds: 0, by: "owner", check })).rejects.toThrow(
      "changed",
    );
  });

  test("tokens of others and deleted ones have no keys to rotate", async () => {
    const { id, key } = await create();
    expect(await rotations.rotate({ userId: OWNER + 1, id, graceSeconds: 0, by: "owner" })).toBeUndefined();
    expect(await rotations.listOld(OWNER + 1, id)).toBeUndefined();
    await rotate(id, HOUR);
    await store.remove(OWNER, id);
    expect(await rotations.rotate({ userId: OWNER, id, graceSeconds: 0, by: "owner" })).toBeUndefined();
    expect(await find(key)).toBeUndefined();
  });

  test("a replaced key is found by its owner, also after its end", async () => {
    const { id, key } = await create();
    await rotate(id, 0);
    expect(await store.findId([key])).toBe(id);
  });

  test("the use of a replaced key is stored once a minute", async () => {
    const { id, key } = await create();
    await rotate(id, HOUR);
    const lastUse = async () => (await rotations.listOld(OWNER, id))?.[0]?.last_used_at;
    expect(await lastUse()).toBe(0);
    await find(key);
    await expect.poll(lastUse).toBe(START_SECONDS);
    kit.clock.set(START_SECONDS + 59);
    await find(key);
    kit.clock.set(START_SECONDS + 60);
    await find(key);
    await expect.poll(lastUse).toBe(START_SECONDS + 60);
    expect(warnings).toEqual([]);
  });

  describe("while a replica of another version runs", () => {
    const report = (seenAt: number) =>
      kit.database.db
        .insertInto("replicas")
        .values({
          instance: "old",
          version: "0.0.1",
          started_at: 0,
          seen_at: seenAt,
          is_leader: 0,
          running: 0,
          revision: 0,
          channels: null,
        })
        .execute();

    test("a key gets no grace that the replica does not know, but may end at once", async () => {
      const { id } = await create();
      await report(START_SECONDS - 30);
      await expect(rotate(id, HOUR)).rejects.toMatchObject({ key: "replicas_differ" });
      expect((await rotate(id, 0)).old).toEqual([]);
    });

    test("one that stopped long ago does not count", async () => {
      const { id } = await create();
      await report(START_SECONDS - 91);
      expect((await rotate(id, HOUR)).old).toHaveLength(1);
    });
  });

  test("the current key costs one query, before and after a rotation", async () => {
    const { id } = await create();
    const { key } = await rotate(id, HOUR);
    const asked: string[] = [];
    const raw = {
      rows: <Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> => {
        asked.push(sql);
        return kit.database.raw.rows<Row>(sql, values);
      },
    };
    const counted = createTokenCache({ raw, clock: kit.clock });
    expect((await find(key, counted))?.id).toBe(id);
    expect(asked).toHaveLength(1);
    expect((await find(key, deaf))?.id).toBe(id);
  });

  describe("with a schedule", () => {
    const DAY = 86_400;
    const never = new AbortController().signal;
    const run = (confirm: () => Promise<void> = async () => undefined) =>
      rotateDueKeys({ ...kit, tokens: cache, announce: async () => cache.clear() }, never, confirm);
    const createScheduled = (fields: object) =>
      store.create(
        OWNER,
        tokenFields({ name: "ci", unlimited_quota: true, ...fields }, () => true),
      );

    test("a key is replaced when it is due, and works for its grace", async () => {
      const { id, key } = await createScheduled({ rotate_days: 30, rotate_grace_seconds: HOUR });
      kit.clock.set(START_SECONDS + 30 * DAY - 1);
      await run();
      expect((await store.get(OWNER, id))?.key).toBe(key);
      const due = START_SECONDS + 30 * DAY;
      kit.clock.set(due);
      await run();
      await run();
      const rotated = await store.get(OWNER, id);
      expect(rotated).toMatchObject({ rotated_at: due, old_keys_until: due + HOUR });
      expect((await find(key))?.id).toBe(id);
      expect((await find(rotated?.key ?? ""))?.id).toBe(id);
      kit.clock.set(due + 30 * DAY);
      await run();
      expect((await store.get(OWNER, id))?.rotated_at).toBe(due + 30 * DAY);
    });

    test("a schedule counts from the age of the key, and ends with 0", async () => {
      const { id, key } = await create();
      kit.clock.set(START_SECONDS + 100 * DAY);
      await run();
      expect((await store.get(OWNER, id))?.key).toBe(key);
      await store.update(OWNER, id, { rotate_days: 90, rotate_grace_seconds: 0 });
      await run();
      const second = (await store.get(OWNER, id))?.key;
      expect(second).not.toBe(key);
      await store.update(OWNER, id, { rotate_days: 0 });
      kit.clock.set(START_SECONDS + 300 * DAY);
      await run();
      expect((await store.get(OWNER, id))?.key).toBe(second);
    });

    test("a replica that no longer leads replaces nothing", async () => {
      const { id, key } = await createScheduled({ rotate_days: 1 });
      kit.clock.set(START_SECONDS + DAY);
      await expect(run(() => Promise.reject(new Error("another replica leads")))).rejects.toThrow("leads");
      expect((await store.get(OWNER, id))?.key).toBe(key);
      expect((await find(key))?.rotation).toBeUndefined();
    });

    test("keys that ended long ago are forgotten", async () => {
      const { id, key } = await create();
      await rotate(id, 0);
      kit.clock.set(START_SECONDS + 91 * DAY);
      await run();
      expect(await store.findId([key])).toBeUndefined();
    });
  });

  test("a rotation is one event for the owner", async () => {
    const { id } = await create();
    const { hint } = await rotate(id, HOUR);
    const rows = kit.database.db.selectFrom("events").selectAll().where("type", "=", "token.rotated");
    const [event, ...others] = (await rows.execute()).filter(
      ({ data }) => (JSON.parse(data) as { id: number }).id === id,
    );
    expect(others).toEqual([]);
    expect(event).toMatchObject({ account_id: OWNER, user_id: OWNER, team_id: 0 });
    expect(JSON.parse(event?.data ?? "")).toEqual({ id, name: "ci", hint, by: "owner" });
  });
});

import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { insertRow } from "../../storage/inserts.ts";
import { reportExpiries } from "./expiry-notices.ts";
import { tokenFields } from "./input.ts";
import { createTokenStore, type TokenStore } from "./store.ts";

const DAY = 86_400;
const OWNER = 7;

eachDatabase("events about tokens that end", (open) => {
  let kit: StoreKit;
  let store: TokenStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createTokenStore({ ...kit, tokens: { dropToken: () => undefined } });
    const account = accountRow({ username: "owner", passwordHash: "", createdAt: START_SECONDS });
    await insertRow(kit.database.db, "users", { ...account, id: OWNER });
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    for (const table of ["events", "tokens"] as const) await kit.database.db.deleteFrom(table).execute();
    kit.clock.set(START_SECONDS);
  });

  const create = async (days: number, more: object = {}) => {
    const expired_time = days < 0 ? -1 : START_SECONDS + days * DAY;
    const fields = tokenFields({ name: `in ${days}`, unlimited_quota: true, expired_time, ...more }, () => true);
    return (await store.create(OWNER, fields)).id;
  };
  const run = (confirm: () => Promise<void> = async () => undefined) =>
    reportExpiries(kit, new AbortController().signal, confirm);
  /** What was recorded about the ends of tokens: type, name, and person. */
  const recorded = async () => {
    const rows = await kit.database.db.selectFrom("events").select(["type", "user_id", "data"]).orderBy("id").execute();
    return rows
      .filter(({ type }) => type.startsWith("token.expir"))
      .map(({ type, user_id: user, data }) => `${type} ${(JSON.parse(data) as { name: string }).name} ${user}`);
  };

  test("a token is announced seven days and one day before its end, and at its end, once each", async () => {
    await create(30);
    await create(-1);
    expect([await run(), await recorded()]).toEqual([0, []]);
    for (const day of [22.9, 23, 24, 28.9, 29, 29.5, 29.9]) {
      kit.clock.set(START_SECONDS + day * DAY);
      await run();
    }
    expect(await recorded()).toEqual(["token.expiring in 30 7", "token.expiring in 30 7"]);
    kit.clock.set(START_SECONDS + 30 * DAY + 1);
    expect([await run(), await run()]).toEqual([1, 0]);
    expect((await recorded()).at(-1)).toBe("token.expired in 30 7");
  });

  test("a token that was made for a shorter time is announced at its end alone", async () => {
    await create(0.5);
    await create(3);
    expect(await run()).toBe(0);
    kit.clock.set(START_SECONDS + 2.5 * DAY);
    await run();
    expect(await recorded()).toEqual(["token.expiring in 3 7"]);
  });

  test("a later end is announced again; a token that is disabled or deleted has none", async () => {
    const moved = await create(30);
    const off = await create(30, { status: 2 });
    const removed = await create(30);
    await store.setStatus(OWNER, off, { status: 2, by: "owner" });
    await store.remove(OWNER, removed);
    kit.clock.set(START_SECONDS + 29.5 * DAY);
    expect(await run()).toBe(1);
    await store.update(OWNER, moved, { expired_time: START_SECONDS + 60 * DAY });
    kit.clock.set(START_SECONDS + 59.5 * DAY);
    expect(await run()).toBe(1);
  });

  test("more tokens than one step takes are all announced, by the leader alone", async () => {
    for (let n = 0; n < 3; n += 1) await create(30);
    const rows = await kit.database.db.selectFrom("tokens").selectAll().execute();
    const copies = Array.from({ length: 249 }, (_, n) => {
      const { id: _id, ...row } = rows[0] as (typeof rows)[number];
      return { ...row, key_hash: `copy-${n}` };
    });
    for (let at = 0; at < copies.length; at += 50)
      await kit.database.db
        .insertInto("tokens")
        .values(copies.slice(at, at + 50))
        .execute();
    kit.clock.set(START_SECONDS + 29.5 * DAY);
    await expect(run(() => Promise.reject(new Error("another replica leads")))).rejects.toThrow("leads");
    expect(await recorded()).toEqual([]);
    expect(await run()).toBe(252);
    expect(await run()).toBe(0);
  });
});

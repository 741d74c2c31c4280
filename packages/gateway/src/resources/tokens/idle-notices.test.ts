import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { insertRow } from "../../storage/inserts.ts";
import { reportIdleTokens } from "./idle-notices.ts";
import { tokenFields } from "./input.ts";
import { createTokenStore, type TokenStore } from "./store.ts";

const DAY = 86_400;
const OWNER = 7;

eachDatabase("events about tokens that no one uses", (open) => {
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

  const create = async (name: string, more: object = {}) =>
    (
      await store.create(
        OWNER,
        tokenFields({ name, unlimited_quota: true, expired_time: -1, ...more }, () => true),
      )
    ).id;
  const use = (id: number, day: number) =>
    kit.database.db
      .updateTable("tokens")
      .set({ accessed_time: START_SECONDS + day * DAY })
      .where("id", "=", id)
      .execute();
  const runOn = (day: number, days = 90, confirm: () => Promise<void> = async () => undefined) => {
    kit.clock.set(START_SECONDS + day * DAY);
    return reportIdleTokens({ ...kit, days }, new AbortController().signal, confirm);
  };
  const recorded = async () => {
    const rows = await kit.database.db.selectFrom("events").selectAll().where("type", "=", "token.idle").execute();
    return rows.map(({ user_id: user, data }) => ({ user, ...(JSON.parse(data) as object) }));
  };

  test("one that is not used for so many days has one event, and another after its next use", async () => {
    const id = await create("reports");
    await use(id, 3);
    expect([await runOn(92.9), await runOn(93), await runOn(94), await runOn(99)]).toEqual([0, 1, 0, 0]);
    expect(await recorded()).toMatchObject([
      { user: OWNER, id, name: "reports", days: 90, last_used_at: START_SECONDS + 3 * DAY },
    ]);
    await use(id, 99.5);
    expect([await runOn(180), await runOn(190), await runOn(191)]).toEqual([0, 1, 0]);
  });

  test("one that was never used counts from its creation", async () => {
    await create("never");
    expect([await runOn(89), await runOn(90)]).toEqual([0, 1]);
  });

  test("those that cannot be used, and those that were idle long before, have none", async () => {
    const off = await create("off");
    await store.setStatus(OWNER, off, { status: 2, by: "owner" });
    await store.remove(OWNER, await create("removed"));
    await create("ended", { expired_time: START_SECONDS + 10 * DAY });
    const long = await create("long");
    await use(long, -8);
    expect(await runOn(90)).toBe(0);
    expect(await runOn(90, 0)).toBe(0);
    await create("on");
    await expect(runOn(180, 90, () => Promise.reject(new Error("another replica leads")))).rejects.toThrow("leads");
    expect(await recorded()).toEqual([]);
  });
});

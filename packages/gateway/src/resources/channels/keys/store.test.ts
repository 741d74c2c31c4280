import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../../test/kit/store-kit.ts";
import { newFields } from "../input.ts";
import { createChannelStore, type ChannelStore } from "../store.ts";

eachDatabase("single keys of channels", (open) => {
  let kit: StoreKit;
  let store: ChannelStore;
  let id: number;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createChannelStore(kit);
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    await kit.database.db.deleteFrom("channels").execute();
    await kit.database.db.deleteFrom("abilities").execute();
    const fields = newFields({ name: "many", models: "a" }, () => true);
    [id = 0] = await store.create(fields, ["k0\nk1\nk2\nk3"]);
  });

  const off = { status: 3, reason: "refused 𝄞" };
  const states = async () => Object.fromEntries((await store.keySet(id))?.states ?? []);
  const enabled = async () =>
    (await kit.database.db.selectFrom("abilities").select("enabled").where("channel_id", "=", id).execute())[0]
      ?.enabled;

  test("are switched by place or text, once, with reason and time", async () => {
    const done = await store.switchKey(id, "k2", off);
    expect(done).toMatchObject({ index: 2, isLast: false, row: { id, status: 1 } });
    expect(await store.switchKey(id, 2, off)).toBe("unchanged");
    expect(await states()).toEqual({ 2: { ...off, time: START_SECONDS } });
    expect(await store.switchKey(id, 2, { status: 2, reason: "" })).toMatchObject({ index: 2 });
    expect(await store.switchKey(id, 2, { status: 1, reason: "" })).toMatchObject({ index: 2 });
    expect(await states()).toEqual({});
    expect(await store.switchKey(id, 9, off)).toBe("unchanged");
    expect(await store.switchKey(id + 1_000, 0, off)).toBe("unchanged");
  });

  test("all blamed at once are all off, and the channel goes off once with the last", async () => {
    const done = await Promise.all(["k0", "k1", "k2", "k3", "k0", "k3"].map((key) => store.switchKey(id, key, off)));
    const switched = done.filter((one) => typeof one === "object");
    expect(switched).toHaveLength(4);
    expect(switched.filter(({ isLast }) => isLast)).toHaveLength(1);
    expect(Object.keys(await states())).toEqual(["0", "1", "2", "3"]);
    expect([(await store.get(id))?.status, await enabled()]).toEqual([3, 0]);
    expect(await store.switchBySystem(id, 3, 1, "")).toBe(true);
    expect([(await store.get(id))?.status, await enabled(), await states()]).toEqual([1, 1, {}]);
  });

  test("those that are off by hand stay off when the channel comes back with others", async () => {
    await store.switchKey(id, 0, { status: 2, reason: "" });
    for (const index of [1, 2, 3]) await store.switchKey(id, index, off);
    expect((await store.get(id))?.status).toBe(3);
    await store.update(id, { status: 1 });
    expect(Object.keys(await states())).toEqual(["0"]);
  });

  const byHand = { status: 2, reason: "" };
  const on = { status: 1, reason: "" };
  const allOffByHand = async () => {
    for (const index of [0, 1, 2, 3]) await store.switchKey(id, index, byHand);
  };
  const channel = async () => [(await store.get(id))?.status, await enabled()];
  const reason = async () => {
    const info = JSON.parse((await store.get(id))?.other_info ?? "") as { status_reason: string };
    return info.status_reason;
  };

  test("switch a channel on again that went off with its last key", async () => {
    await allOffByHand();
    expect([await channel(), await reason()]).toEqual([[2, 0], "All keys are disabled"]);
    expect(await store.switchKey(id, 1, on)).toMatchObject({ index: 1, row: { status: 1 } });
    expect([await channel(), await reason()]).toEqual([[1, 1], ""]);
    await store.switchKey(id, 1, off);
    expect([await channel(), await reason()]).toEqual([[3, 0], "All keys are disabled; refused 𝄞"]);
    await store.switchKey(id, 3, on);
    expect([await channel(), Object.keys(await states())]).toEqual([
      [1, 1],
      ["0", "1", "2"],
    ]);
  });

  test("leave a channel off that was switched off by hand itself, before or after its keys", async () => {
    await store.update(id, { status: 2 });
    await allOffByHand();
    await store.switchKey(id, 0, on);
    expect(await channel()).toEqual([2, 0]);
    await store.update(id, { status: 1 });
    await allOffByHand();
    await store.update(id, { name: "an edit is no switch" });
    await store.update(id, { status: 2 });
    await store.switchKey(id, 0, on);
    expect(await channel()).toEqual([2, 0]);
  });

  test("that the system had switched off are switched off by hand without bringing the channel back", async () => {
    for (const index of [0, 1, 2, 3]) await store.switchKey(id, index, off);
    await store.switchKey(id, 0, byHand);
    expect(await channel()).toEqual([3, 0]);
    await store.switchKey(id, 0, on);
    expect(await channel()).toEqual([1, 1]);
  });
});

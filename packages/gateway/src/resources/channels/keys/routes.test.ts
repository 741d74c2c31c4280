import type { ChannelKey, StoredAccount } from "@fairway/wire";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../../test/kit/api-caller.ts";
import { buildBatchRow } from "../../../../test/kit/batch-row.ts";
import { markKey } from "../../../snapshot/key-marks.ts";
import { readRefusal } from "../../../../test/kit/members.ts";
import { startManagementApp, type ManagementApp } from "../../../../test/kit/management-app.ts";

let app: ManagementApp;
let admin: ApiCaller;
let id: number;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  admin = await app.signIn("root");
});
afterAll(() => app.close());

const SECRET = "sk-a-long-secret-that-no-user-sees-";
const KEYS = [`${SECRET}0001`, `${SECRET}0002`, `${SECRET}0003`];
const REFUSED = "invalid api key";

beforeEach(async () => {
  for (const table of ["channels", "batches", "upstream_objects"] as const)
    await app.database.db.deleteFrom(table).execute();
  const channel = { name: "many", type: 1, key: KEYS.join("\n"), multi_key: true, models: "gpt-4o", group: "default" };
  await admin.data(admin.post("/api/channel/", channel));
  const [row] = await app.database.db.selectFrom("channels").select("id").execute();
  id = row?.id ?? 0;
});

const path = () => `/api/channel/${id}/keys`;
const keys = () => admin.data<ChannelKey[]>(admin.get(path()));
const statuses = async () => (await keys()).map(({ status }) => status);
const put = (index: number, status: number) => admin.put(path(), { index, status });
const row = () => app.database.db.selectFrom("channels").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const abilities = async () =>
  (await app.database.db.selectFrom("abilities").select("enabled").where("channel_id", "=", id).execute())[0]?.enabled;
/** The events of the channel, oldest first. */
const events = async () => {
  const rows = await app.database.db.selectFrom("events").select(["type", "data"]).orderBy("id").execute();
  const all = rows.map(({ type, data }) => ({ type, data: JSON.parse(data) as { readonly id: number } }));
  return all.filter(({ type, data }) => type.startsWith("channel.") && data.id === id);
};
const readCode = async (reply: ReturnType<ApiCaller["get"]>) => (await reply).body["code"];
const refuse = (key: string | undefined) => app.operations.channels.disable(id, REFUSED, key);

describe("single keys of a channel", () => {
  test("are shown by their last characters, and switched off and on by hand", async () => {
    const on = { status: 1, reason: "", time: 0 };
    expect(await keys()).toEqual(KEYS.map((key, index) => ({ index, hint: key.slice(-4), ...on })));
    const after = await admin.data<ChannelKey[]>(put(1, 2));
    expect(after[1]).toMatchObject({ index: 1, status: 2, reason: "" });
    expect(after[1]?.time).toBeGreaterThan(0);
    expect(app.snapshots.current().channels.get(id)?.usableKeys).toEqual([0, 2]);
    expect((await row()).status).toBe(1);
    await admin.data(put(1, 1));
    expect(await statuses()).toEqual([1, 1, 1]);
    expect((await row()).channel_info).toBeNull();
    expect(JSON.stringify(await keys())).not.toContain(SECRET);
  });

  test("the channel goes off with its last key and comes back with its first", async () => {
    for (const index of [0, 1, 2]) await admin.data(put(index, 2));
    expect([(await row()).status, await abilities()]).toEqual([2, 0]);
    await admin.data(put(1, 1));
    expect([(await row()).status, await abilities(), await statuses()]).toEqual([1, 1, [2, 1, 2]]);
    expect(app.snapshots.current().channels.get(id)).toMatchObject({ status: 1, usableKeys: [1] });
  });

  test("a channel without keys in use that is switched on itself uses all of them again", async () => {
    for (const index of [0, 1, 2]) await admin.data(put(index, 2));
    await admin.data(admin.put("/api/channel/", { id, status: 1 }));
    expect([(await row()).status, await abilities(), await statuses()]).toEqual([1, 1, [1, 1, 1]]);
  });

  test.each([
    ["itself", () => admin.put("/api/channel/", { id, status: 2 })],
    ["with others", () => admin.post("/api/channel/bulk", { action: "disable", ids: [id] })],
  ])("a channel that is switched off by hand %s stays off when a key of it is switched on", async (_how, disable) => {
    for (const index of [0, 1, 2]) await admin.data(put(index, 2));
    await admin.data(disable());
    await admin.data(put(1, 1));
    expect([(await row()).status, await abilities(), await statuses()]).toEqual([2, 0, [2, 1, 2]]);
  });

  test("a key that its upstream refuses is switched off alone, with the reason and a mail", async () => {
    expect(await refuse(KEYS[1])).toBe(true);
    expect(await refuse(KEYS[1])).toBe(false);
    expect((await keys())[1]).toMatchObject({ status: 3, reason: REFUSED });
    expect(app.notices.at(-1)).toBe(`Key 2 of channel "many" (#${id}) has been disabled`);
    const off = { type: "channel.key_disabled", data: { id, name: "many", number: 2, by: "system", reason: REFUSED } };
    expect(await events()).toEqual([off]);
    expect((await row()).status).toBe(1);
    expect(await refuse("a key that was replaced meanwhile")).toBe(false);
    expect(await refuse(KEYS[0])).toBe(true);
    expect(await refuse(KEYS[2])).toBe(true);
    const { status, other_info: info } = await row();
    expect([status, await abilities()]).toEqual([3, 0]);
    expect(app.notices.at(-1)).toBe(`Channel "many" (#${id}) has been disabled: its last key was refused`);
    expect(JSON.parse(info)).toMatchObject({ status_reason: `All keys are disabled; ${REFUSED}` });
    const types = async () => (await events()).map(({ type }) => type);
    const all = ["channel.key_disabled", "channel.key_disabled", "channel.key_disabled", "channel.disabled"];
    expect(await types()).toEqual(all);
    await admin.data(put(2, 1));
    expect([(await row()).status, await abilities(), await statuses()]).toEqual([1, 1, [3, 3, 1]]);
    expect(await types()).toEqual([...all, "channel.enabled"]);
  });

  test("what was switched off by hand stays so, whatever a request that still runs says of it", async () => {
    await admin.data(put(1, 2));
    const notices = app.notices.length;
    expect(await refuse(KEYS[1])).toBe(false);
    expect(await statuses()).toEqual([1, 2, 1]);
    expect(app.notices).toHaveLength(notices);
  });

  test("two keys that are refused at once are both off", async () => {
    expect(await Promise.all([refuse(KEYS[0]), refuse(KEYS[2]), refuse(KEYS[0])])).toContain(true);
    expect(await statuses()).toEqual([3, 1, 3]);
  });

  test("a channel with one key is switched off as a whole", async () => {
    await admin.data(admin.put("/api/channel/", { id, key: KEYS[0] }));
    expect(await refuse(KEYS[0])).toBe(true);
    expect((await row()).status).toBe(3);
    expect(await readRefusal(put(0, 2))).toEqual([200, "G2", "Invalid input: index is the channel's only key."]);
  });

  test("a key that stays when the text is replaced keeps its state", async () => {
    await refuse(KEYS[1]);
    await admin.data(admin.put("/api/channel/", { id, key: [KEYS[1], "sk-new", KEYS[0]].join("\n") }));
    expect(await statuses()).toEqual([3, 1, 1]);
    await admin.data(admin.put("/api/channel/", { id, key: "sk-x\nsk-y" }));
    expect(await statuses()).toEqual([1, 1]);
  });

  test("keys are added behind those that are there, which keep their state", async () => {
    await refuse(KEYS[1]);
    const append = (key: string) => admin.put("/api/channel/", { id, key, key_mode: "append" });
    await admin.data(append(` sk-new\n${KEYS[0]}\n\nsk-newer\nsk-new `));
    expect([await statuses(), await app.operations.channels.store.findKey(id)]).toEqual([
      [1, 3, 1, 1, 1],
      [...KEYS, "sk-new", "sk-newer"].join("\n"),
    ]);
    await Promise.all(["sk-a", "sk-b", "sk-c"].map(async (key) => admin.data(append(key))));
    expect(await statuses()).toHaveLength(8);
    await admin.data(append(""));
    expect(await readRefusal(append(`{"a":1}`))).toEqual([
      200,
      "G2",
      'Invalid input: key_mode must be "replace": key files cannot be combined.',
    ]);
    expect(await readCode(append("x".repeat(512 * 1024)))).toBe("G2");
    expect(await readCode(admin.put("/api/channel/", { id, key: "sk-x", key_mode: "prepend" }))).toBe("G1");
    expect(await statuses()).toHaveLength(8);
    await admin.data(admin.put("/api/channel/", { id, key: "sk-x\nsk-y", key_mode: "replace" }));
    expect(await statuses()).toEqual([1, 1]);
  });

  test("a channel that is on is left with a key to use when its text is replaced", async () => {
    await refuse(KEYS[1]);
    await admin.data(admin.put("/api/channel/", { id, key: KEYS[1] }));
    expect([(await row()).status, await statuses()]).toEqual([1, [1]]);
    expect(app.snapshots.current().channels.get(id)?.usableKeys).toBeUndefined();
  });

  test("refuses what is no key and no state", async () => {
    expect(await readRefusal(put(3, 2))).toEqual([
      200,
      "G2",
      "Invalid input: index must be from 0 (key 1) to 2 (key 3).",
    ]);
    expect(await readCode(put(0, 3))).toBe("CH17");
    id += 1_000;
    expect(await readCode(put(0, 2))).toBe("CH8");
    expect(await readCode(admin.get(path()))).toBe("CH8");
  });
});

/** Adds a batch and a file that only the first key opens. */
async function useFirstKey(): Promise<void> {
  const mark = markKey(KEYS[0] ?? "", app.vault.hashKey);
  const batch = buildBatchRow({ channel_id: id, key_mark: mark, phase: "ended" });
  await app.database.db.insertInto("batches").values(batch).execute();
  const file = { user_id: 1, token_id: 1, kind: "file", dialect: "openai", upstream_id: "file-UP", name: "a" };
  const rest = { mime: "", purpose: "batch", bytes: 1, state: "ready", facts: "{}", created_at: 1, expires_at: 0 };
  await app.database.db
    .insertInto("upstream_objects")
    .values({ ...file, ...rest, id: `file-${id}`, channel_id: id, key_mark: mark, next_check_at: 0 })
    .execute();
}

describe("a key that is replaced while requests run", () => {
  const add = (key: string) => admin.post(path(), { key });
  const remove = (index: number | string, more = "") => admin.delete(`${path()}?index=${index}${more}`);

  test("is added switched off, also next to a single key, and one that is known stays as it is", async () => {
    const added = await admin.data<ChannelKey[]>(add(` ${SECRET}0004\n${KEYS[0]}`));
    expect(added.map(({ status, hint }) => [status, hint])).toEqual([
      [1, "0001"],
      [1, "0002"],
      [1, "0003"],
      [2, "0004"],
    ]);
    expect(app.snapshots.current().channels.get(id)?.usableKeys).toEqual([0, 1, 2]);
    await admin.data(admin.put("/api/channel/", { id, key: "sk-only" }));
    await admin.data(add("sk-next"));
    expect([await statuses(), (await row()).status]).toEqual([[1, 2], 1]);
    await admin.data(put(1, 1));
    await admin.data(put(0, 2));
    await admin.data(remove(0));
    expect([await statuses(), await app.operations.channels.store.findKey(id)]).toEqual([[1], "sk-next"]);
    expect(app.snapshots.current().channels.get(id)?.usableKeys).toBeUndefined();
  });

  test("no key, a masked one and an unknown channel add nothing", async () => {
    expect(await readCode(add("  "))).toBe("CH19");
    expect(await readCode(add("sk-abc***xyz"))).toBe("G2");
    expect(await statuses()).toHaveLength(3);
    id += 1_000;
    expect(await readCode(add("sk-x"))).toBe("CH8");
    expect(await readCode(remove(0))).toBe("CH8");
  });

  test("is removed alone, and the others keep their state", async () => {
    await refuse(KEYS[2]);
    expect((await admin.data<ChannelKey[]>(remove(0, "&hint=0001"))).map(({ hint }) => hint)).toEqual(["0002", "0003"]);
    expect(await statuses()).toEqual([1, 3]);
    // Another administrator removed the key that this one saw at the place.
    expect(await readCode(remove(0, "&hint=0001"))).toBe("CH20");
    for (const index of ["", "x", "1.5", "-1", "2"]) expect(await readCode(remove(index))).toBe("G2");
    await admin.data(remove(0));
    expect(await readRefusal(remove(0))).toEqual([200, "G2", "Invalid input: index is the channel's only key."]);
  });

  test("stays while files or batches need it, unless it is removed by force", async () => {
    await useFirstKey();
    const needed = "Key 1 opens the account of 1 files or caches and 1 running or unsettled batches.";
    expect(await readRefusal(remove(0))).toEqual([409, "CH31", expect.stringContaining(needed)]);
    const compatible = admin.post("/api/channel/multi_key/manage", {
      channel_id: id,
      action: "delete_key",
      key_index: 0,
    });
    expect(await readCode(compatible)).toBe("CH31");
    expect(await statuses()).toHaveLength(3);
    await admin.data(remove(1));
    await admin.data(remove(0, "&force=true"));
    expect((await keys()).map(({ hint }) => hint)).toEqual(["0003"]);
  });

  test("can go while files and batches need its account, if every key opens that", async () => {
    await useFirstKey();
    await admin.data(admin.put("/api/channel/", { id, setting: JSON.stringify({ files_scope: "channel" }) }));
    expect((await admin.data<ChannelKey[]>(remove(0))).map(({ hint }) => hint)).toEqual(["0002", "0003"]);
  });

  test("takes its files and batches to another key of the account", async () => {
    await useFirstKey();
    const accounts = () => admin.data<StoredAccount[]>(admin.get(`/api/channel/${id}/objects`));
    const before = await accounts();
    expect(before.map(({ key_index: index, files, batches, running }) => [index, files, batches, running])).toEqual([
      [0, 1, 1, 0],
      [1, 0, 0, 0],
      [2, 0, 0, 0],
    ]);
    const bound = { from_mark: before[0]?.mark, to_mark: before[1]?.mark };
    await admin.data(admin.post(`/api/channel/${id}/objects/rebind`, bound));
    expect(await admin.data<ChannelKey[]>(remove(0))).toHaveLength(2);
    expect(await accounts()).toMatchObject([{ key_index: 0, files: 1, batches: 1 }, { key_index: 1 }]);
  });

  test("a test of one key needs a key of the channel", async () => {
    expect(await readCode(admin.get(`/api/channel/test/${id}?key_index=3`))).toBe("G2");
    expect(await readCode(admin.get(`/api/channel/test/${id + 1_000}?key_index=0`))).toBe("CH8");
  });
});

describe("the call of compatible gateways for many keys", () => {
  const manage = (action: string, more: object = {}) =>
    admin.post("/api/channel/multi_key/manage", { channel_id: id, action, ...more });
  interface Page {
    readonly keys: readonly Record<string, unknown>[];
  }
  const page = (more: object = {}) => admin.data<Page>(manage("get_key_status", more));

  test("shows pages of keys with their state and how many are in which", async () => {
    await refuse(KEYS[2]);
    await admin.data(manage("disable_key", { key_index: 0 }));
    const all = await page();
    expect(all).toMatchObject({ total: 3, page: 1, page_size: 50, total_pages: 1 });
    expect(all).toMatchObject({ enabled_count: 1, manual_disabled_count: 1, auto_disabled_count: 1 });
    expect(all.keys).toMatchObject([
      { index: 0, status: 2, reason: "", key_preview: "***0001" },
      { index: 1, status: 1, disabled_time: 0, key_preview: "***0002" },
      { index: 2, status: 3, reason: REFUSED, key_preview: "***0003" },
    ]);
    expect(JSON.stringify(all)).not.toContain(SECRET);
    expect((await page({ status: 3 })).keys).toMatchObject([{ index: 2 }]);
    expect(await page({ page: 2, page_size: 2 })).toMatchObject({ keys: [{ index: 2 }], total_pages: 2 });
    expect(await page({ page: 2 ** 53 - 1, page_size: -1 })).toMatchObject({ keys: [], page_size: 50 });
  });

  test("switches one or all", async () => {
    expect(await admin.data(manage("disable_all_keys"))).toBe(3);
    expect([await statuses(), (await row()).status]).toEqual([[2, 2, 2], 2]);
    expect(await admin.data(manage("enable_key", { key_index: 1 }))).toBe(1);
    expect([await statuses(), (await row()).status]).toEqual([[2, 1, 2], 1]);
    expect(await admin.data(manage("enable_all_keys"))).toBe(2);
    expect(await statuses()).toEqual([1, 1, 1]);
  });

  test("deletes keys, and the others keep their state", async () => {
    await refuse(KEYS[2]);
    expect(await admin.data(manage("delete_key", { key_index: 0 }))).toBe(1);
    expect(await statuses()).toEqual([1, 3]);
    expect((await keys()).map(({ hint }) => hint)).toEqual(["0002", "0003"]);
    expect(await admin.data(manage("delete_disabled_keys"))).toBe(1);
    expect((await keys()).map(({ hint }) => hint)).toEqual(["0002"]);
    expect(await admin.data(manage("delete_disabled_keys"))).toBe(0);
    expect(await readCode(manage("delete_key", { key_index: 0 }))).toBe("G2");
  });

  test("deletes a key once for callers at the same moment", async () => {
    const replies = await Promise.all([1, 1, 1].map((key_index) => manage("delete_key", { key_index })));
    const done = replies.filter(({ body }) => body["success"] === true).length;
    expect(done).toBeGreaterThan(0);
    expect((await keys()).length).toBe(3 - done);
  });

  test("refuses what it does not know", async () => {
    expect(await readCode(manage("explode"))).toBe("U12");
    expect(await readCode(admin.post("/api/channel/multi_key/manage", { action: "get_key_status" }))).toBe("CH8");
    for (const key_index of [-1, 3, undefined]) expect(await readCode(manage("disable_key", { key_index }))).toBe("G2");
  });
});

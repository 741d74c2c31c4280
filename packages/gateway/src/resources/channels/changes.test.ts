import { createDatabase } from "@fairway/testkit/databases";
import type { Channel } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;
let admin: Members["admin"];

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  admin = members.admin;
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.db.deleteFrom("channels").execute();
  await app.database.db.deleteFrom("abilities").execute();
});

const form = { name: "one", key: "sk-secret-of-one", models: "gpt-4o,o1" };
const list = (query = "") => admin.data<Channel[]>(admin.get(`/api/channel/${query}`));
const refusedChange = (body: unknown) => readRefusal(admin.put("/api/channel/", body));

async function create(more: Record<string, unknown> = {}): Promise<number> {
  await admin.data(admin.post("/api/channel/", { ...form, ...more }));
  const row = await app.database.db.selectFrom("channels").select("id").orderBy("id", "desc").executeTakeFirstOrThrow();
  return row.id;
}

const read = (id: number) => admin.data<Channel>(admin.get(`/api/channel/${id}`));

describe("changing", () => {
  test("writes what is present and keeps the rest, the key too", async () => {
    const id = await create();
    const reply = await admin.put("/api/channel/", { id, status: 2 });
    const data = reply.body["data"] as Channel;
    expect(data).toMatchObject({ id, status: 2, key: "", name: "one" });
    expect(JSON.parse(data.other_info)).toEqual({ status_reason: "", status_time: Math.floor(app.clock.now() / 1000) });
    await admin.data(
      admin.put("/api/channel/", { id, key: "", name: "", weight: -1, priority: 3, used_quota: 99, balance: 1 }),
    );
    expect(await read(id)).toMatchObject({ name: "one", weight: 0, priority: 3, used_quota: 0, balance: 0 });
    expect(await app.operations.channels.store.findKey(id)).toBe("sk-secret-of-one");
    await admin.data(admin.put("/api/channel/", { id, key: " sk-x\n\nsk-y " }));
    expect(await app.operations.channels.store.findKey(id)).toBe("sk-x\nsk-y");
  });

  test("bites on this replica at once", async () => {
    const id = await create({ models: "brand-new" });
    expect(app.snapshots.current().index.get("default")?.has("brand-new")).toBe(true);
    await admin.data(admin.put("/api/channel/", { id, status: 2 }));
    expect(app.snapshots.current().index.get("default")?.has("brand-new") ?? false).toBe(false);
  });

  test("refuses what it should", async () => {
    const id = await create();
    expect(await refusedChange({ status: 1 })).toEqual([200, "G1", "Invalid parameter."]);
    expect(await refusedChange({ id: id + 1, status: 1 })).toEqual([200, "CH8", "Channel does not exist."]);
    expect(await refusedChange({ id, status: 3 })).toEqual([200, "CH17", "The status can only be set to 1 or 2."]);
    expect(await refusedChange({ id, models: "" })).toEqual([200, "CH2", "Please select at least one model!"]);
    expect(await refusedChange({ id, model_mapping: "x" })).toEqual([
      200,
      "CH3",
      "The model mapping must be in a valid JSON format!",
    ]);
    expect(await refusedChange({ id, status_code_mapping: "x" })).toEqual([
      200,
      "CH4",
      "The status code mapping must be in a valid JSON format!",
    ]);
    expect(await refusedChange({ id, type: 41 })).toEqual([200, "CH5", "The deployment region must not be empty."]);
    expect(await refusedChange({ id, type: 41, other: "{}" })).toEqual([
      200,
      "CH6",
      "The deployment region must contain the key default.",
    ]);
    expect(await refusedChange({ id, type: 0 })).toEqual([200, "CH15", "Unknown channel type."]);
    expect(await refusedChange("{")).toEqual([400, "G1", "Invalid parameter."]);
  });

  test("keeps status 3 when a form sends it back", async () => {
    const id = await create();
    await app.operations.channels.store.switchBySystem(id, 1, 3, "bad key");
    const data = await admin.data<Channel>(admin.put("/api/channel/", { id, status: 3, name: "renamed" }));
    expect(data).toMatchObject({ status: 3, name: "renamed" });
    expect(JSON.parse(data.other_info)).toMatchObject({ status_reason: "bad key" });
  });

  test("a disable for a time shows its end and its reason, and belongs to status 2 alone", async () => {
    const id = await create();
    const form = { id, status: 2, disable_seconds: 3600, status_reason: "maintenance" };
    const { other_info: info, status } = await admin.data<Channel>(admin.put("/api/channel/", form));
    const until = Math.floor(app.clock.now() / 1000) + 3600;
    expect(status).toBe(2);
    expect(JSON.parse(info)).toMatchObject({ status_reason: "maintenance", status_until: until });
    const saved = await admin.data<Channel>(admin.put("/api/channel/", { id, status: 2, name: "renamed" }));
    expect(JSON.parse(saved.other_info)).toMatchObject({ status_until: until });
    const forGood = await admin.data<Channel>(admin.put("/api/channel/", { id, status: 2, disable_seconds: 0 }));
    expect(JSON.parse(forGood.other_info)).not.toHaveProperty("status_until");
    expect(await refusedChange({ id, status: 1, disable_seconds: 60 })).toEqual([200, "G1", "Invalid parameter."]);
  });

  test("a channel that is disabled may wait for its key, and takes it later", async () => {
    const id = await create({ key: "", status: 2 });
    expect(await read(id)).toMatchObject({ status: 2, key_count: 0 });
    expect(await readCode(admin.post("/api/channel/", { ...form, key: "" }))).toBe("CH1");
    await admin.data(admin.put("/api/channel/", { id, key: "sk-late" }));
    expect(await app.operations.channels.store.findKey(id)).toBe("sk-late");
    expect(await read(id)).toMatchObject({ status: 2, key_count: 1 });
  });

  test("a plain disable takes the end of an earlier one away, by whatever call", async () => {
    const timed = async (id: number) => {
      await admin.data(
        admin.put("/api/channel/", { id, status: 2, disable_seconds: 60, status_reason: "maintenance" }),
      );
      return id;
    };
    const readInfo = async (id: number) => JSON.parse((await read(id)).other_info) as unknown;
    const [alone, tagged, bulk] = [await create(), await create({ tag: "berth" }), await create()];
    for (const id of [alone, tagged, bulk]) await timed(id);
    await admin.data(admin.put("/api/channel/", { id: alone, status: 2 }));
    await admin.data(admin.post("/api/channel/tag/disabled", { tag: "berth" }));
    await admin.data(admin.post("/api/channel/bulk", { ids: [bulk], action: "disable" }));
    for (const id of [alone, tagged, bulk])
      expect(await readInfo(id)).toEqual({ status_reason: "", status_time: Math.floor(app.clock.now() / 1000) });
  });

  test("refuses to overwrite a newer version when the client sends the older one", async () => {
    const id = await create();
    const etag = String((await admin.get(`/api/channel/${id}`)).headers["etag"]);
    const put = (version: string, name: string) =>
      admin.call("PUT", "/api/channel/", { headers: { "if-match": version }, body: { id, name } });
    expect((await put(etag, "two")).headers["etag"]).toBe('"2"');
    expect(await readRefusal(put(etag, "three"))).toEqual([
      200,
      "CH20",
      "The channel has been changed in the meantime, please refresh the page and try again.",
    ]);
  });
});

describe("many at once", () => {
  test("deletes one, some, and all that are disabled", async () => {
    const [a, b, c] = [await create(), await create(), await create({ status: 2 })];
    expect((await admin.delete(`/api/channel/${a}/`)).body).toEqual({ success: true, message: "" });
    expect((await admin.delete("/api/channel/999999")).body["success"]).toBe(true);
    expect(await readRefusal(admin.delete("/api/channel/abc"))).toEqual([200, "G1", "Invalid parameter."]);
    expect(await admin.data(admin.delete("/api/channel/disabled"))).toBe(1);
    expect(await admin.data(admin.post("/api/channel/batch", { ids: [b, 999_999] }))).toBe(2);
    expect(await list()).toEqual([]);
    expect(c).toBeGreaterThan(b);
    const none = [200, "CH16", "Please select the channel you want to delete first!"];
    expect(await readRefusal(admin.post("/api/channel/batch", { ids: [] }))).toEqual(none);
    expect(await readRefusal(admin.post("/api/channel/batch", {}))).toEqual(none);
    expect(await readRefusal(admin.post("/api/channel/batch", { ids: ["x"] }))).toEqual([
      200,
      "G2",
      "Invalid input: ids must be an array of integers.",
    ]);
  });

  test("works on tags", async () => {
    const [a, b] = [await create(), await create()];
    expect(await admin.data(admin.post("/api/channel/batch/tag", { ids: [a, b], tag: "t" }))).toBe(2);
    await admin.data(admin.post("/api/channel/tag/disabled", { tag: "t" }));
    expect((await list()).map((channel) => channel.status)).toEqual([2, 2]);
    await admin.data(admin.post("/api/channel/tag/enabled", { tag: "t" }));
    await admin.data(
      admin.put("/api/channel/tag", {
        tag: "t",
        new_tag: "u",
        priority: 4,
        weight: 5,
        models: "",
        groups: "vip",
        model_mapping: "",
      }),
    );
    expect(
      (await list()).map(({ tag, priority, weight, models, group, status }) => [
        tag,
        priority,
        weight,
        models,
        group,
        status,
      ]),
    ).toEqual([
      ["u", 4, 5, "gpt-4o,o1", "vip", 1],
      ["u", 4, 5, "gpt-4o,o1", "vip", 1],
    ]);
    await admin.data(admin.put("/api/channel/tag", { tag: "u", new_tag: "" }));
    expect((await list()).map((channel) => channel.tag)).toEqual([null, null]);
    await admin.data(admin.post("/api/channel/batch/tag", { ids: [a], tag: "v" }));
    await admin.data(admin.post("/api/channel/batch/tag", { ids: [a], tag: null }));
    expect((await read(a)).tag).toBeNull();
    const untagged = [200, "CH14", "The tag must not be empty."];
    await create({ name: "few", tag: "w", models: "a,b" });
    await create({ name: "most", tag: "w", models: "c,d,e" });
    expect(await admin.data(admin.get("/api/channel/tag/models?tag=w"))).toBe("c,d,e");
    expect(await admin.data(admin.get("/api/channel/tag/models?tag=nobody"))).toBe("");
    expect(await readRefusal(admin.get("/api/channel/tag/models"))).toEqual(untagged);
    expect(await readRefusal(admin.post("/api/channel/tag/disabled", { tag: " " }))).toEqual(untagged);
    expect(await readRefusal(admin.post("/api/channel/tag/enabled", {}))).toEqual(untagged);
    expect(await readRefusal(admin.put("/api/channel/tag", { new_tag: "x" }))).toEqual(untagged);
    expect(await readCode(admin.put("/api/channel/tag", { tag: "t", models: "m".repeat(256) }))).toBe("CH7");
  });

  test("copies a channel on the server", async () => {
    const id = await create({ tag: "t", priority: 7, name: "n".repeat(190) });
    await app.operations.channels.store.recordBalance(id, 5);
    const copied = await admin.data<Channel>(admin.call("POST", `/api/channel/${id}/copy`, {}));
    expect(copied).toMatchObject({
      name: `${"n".repeat(187)}Copy`,
      tag: "t",
      priority: 7,
      balance: 0,
      used_quota: 0,
      key: "",
    });
    expect(await app.operations.channels.store.findKey(copied.id)).toBe("sk-secret-of-one");
    const later = await admin.data<{ id: number }>(admin.call("POST", `/api/channel/copy/${id}?suffix=_2`, {}));
    const laterName = (await admin.data<Channel>(admin.get(`/api/channel/${later.id}`))).name;
    expect(laterName).toBe(`${"n".repeat(189)}_2`);
    const plain = await admin.data<{ id: number }>(admin.call("POST", `/api/channel/copy/${id}`, {}));
    expect(await admin.data(admin.get(`/api/channel/${plain.id}`))).toMatchObject({ used_quota: 0, balance: 0 });
    const long = await admin.data<{ id: number }>(
      admin.call("POST", `/api/channel/copy/${id}?suffix=${"x".repeat(500)}`, {}),
    );
    expect((await admin.data<Channel>(admin.get(`/api/channel/${long.id}`))).name).toHaveLength(191);
    expect(await readRefusal(admin.call("POST", "/api/channel/999999/copy", {}))).toEqual([
      200,
      "CH8",
      "Channel does not exist.",
    ]);
  });

  test("changes many and reports how each fared", async () => {
    const [a, b] = [await create(), await create({ name: "two", models: "x" })];
    const bulk = (body: unknown) => admin.data<unknown[]>(admin.post("/api/channel/bulk", body));
    expect(await bulk({ ids: [a, 999_999], action: "disable" })).toEqual([
      { id: a, success: true, message: "" },
      { id: 999_999, success: false, message: "Channel does not exist." },
    ]);
    expect(await bulk({ filter: { status: [2] }, action: "enable" })).toEqual([{ id: a, success: true, message: "" }]);
    expect(await bulk({ ids: [b], action: "patch", patch: { models: "m".repeat(256) } })).toMatchObject([
      { id: b, success: false },
    ]);
    await bulk({ ids: [a], action: "patch", patch: { priority: 8 } });
    await bulk({ ids: [a], action: "sync", from: b });
    expect(await read(a)).toMatchObject({ priority: 8, models: "x", name: "one" });
    expect(await bulk({ ids: [a, b], action: "delete" })).toHaveLength(2);
    expect(await list()).toEqual([]);
    expect(await readRefusal(admin.post("/api/channel/bulk", { ids: [a], action: "explode" }))).toEqual([
      200,
      "U12",
      "Unknown action.",
    ]);
    expect(await readCode(admin.post("/api/channel/bulk", { filter: {}, action: "delete" }))).toBe("CH16");
    expect(await readCode(admin.post("/api/channel/bulk", { ids: [a], action: "sync" }))).toBe("CH8");
  });

  test("refuses a filter of many that leaves nothing out, however it is written", async () => {
    const id = await create();
    for (const filter of [{ keyword: " " }, { group: "null" }, { group: " ", model: "\t", tag: " ", type: [] }]) {
      expect(await readCode(admin.post("/api/channel/bulk", { filter, action: "delete" }))).toBe("CH16");
    }
    expect(await read(id)).toMatchObject({ id });
  });

  test("repairs the routing rows", async () => {
    await create();
    await app.database.db.deleteFrom("abilities").execute();
    expect(await admin.data(admin.post("/api/channel/fix", {}))).toBe(1);
    expect(await admin.data(admin.get("/api/channel/models_enabled"))).toEqual(["gpt-4o", "o1"]);
  });
});

describe("catalogues", () => {
  test("list every known model once, and the types of channels", async () => {
    const models = await admin.data<{ id: string; owned_by: string }[]>(admin.get("/api/channel/models"));
    const ids = models.map((model) => model.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
    expect(models.find((model) => model.id === "gpt-4o")).toMatchObject({
      object: "model",
      created: 1_626_777_600,
      owned_by: "openai",
      root: "gpt-4o",
      parent: null,
    });
    const byType = await members.user.data<Record<string, string[]>>(members.user.get("/api/models"));
    expect(byType["1"]).toContain("gpt-4o");
    expect(byType["21"]).toEqual([]);
    const types = await admin.data<
      { type: number; label: string; has_key_file: boolean; takes_cache_marks: boolean }[]
    >(admin.get("/api/channel/types"));
    expect(types.find((entry) => entry.type === 1)).toMatchObject({
      label: "OpenAI",
      can_test: true,
      can_balance: true,
      has_key_file: false,
    });
    expect(types.filter((entry) => entry.has_key_file).map(({ type }) => type)).toEqual([41]);
    const marked = types.filter((entry) => entry.takes_cache_marks).map(({ label }) => label);
    expect(marked).toEqual(expect.arrayContaining(["OpenAI", "Anthropic Claude"]));
    expect(marked).not.toContain("Cohere");
  });
});

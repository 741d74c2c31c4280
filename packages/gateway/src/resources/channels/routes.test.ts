import { createDatabase } from "@fairway/testkit/databases";
import type { Channel } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/management-app.ts";
import { codeOf, refusalOf, signInMembers, type Members } from "../../../test/members.ts";

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
const refused = (body: unknown) => refusalOf(admin.post("/api/channel/", body));
const refusedChange = (body: unknown) => refusalOf(admin.put("/api/channel/", body));

async function create(more: Record<string, unknown> = {}): Promise<number> {
  await admin.data(admin.post("/api/channel/", { ...form, ...more }));
  const row = await app.database.db.selectFrom("channels").select("id").orderBy("id", "desc").executeTakeFirstOrThrow();
  return row.id;
}

const read = (id: number) => admin.data<Channel>(admin.get(`/api/channel/${id}`));

describe("who may", () => {
  test("administrators only", async () => {
    expect(await refusalOf(members.user.get("/api/channel/"))).toEqual([200, "AU7", "Insufficient permissions."]);
    expect((await app.anonymous().get("/api/channel/")).status).toBe(401);
    expect((await members.user.post("/api/channel/", form)).body["success"]).toBe(false);
  });
});

describe("creating", () => {
  test("shows everything but the key", async () => {
    const reply = await admin.post("/api/channel/", form);
    expect(reply.body).toEqual({ success: true, message: "" });
    const [channel] = await list();
    expect(channel).toMatchObject({
      type: 1,
      key: "",
      name: "one",
      status: 1,
      models: "gpt-4o,o1",
      group: "default",
      weight: 0,
      priority: 0,
      auto_ban: 1,
      balance: 0,
      used_quota: 0,
      response_time: 0,
      test_time: 0,
      max_input_tokens: 0,
      base_url: "",
      other: "",
      other_info: "",
      model_mapping: "",
      status_code_mapping: "",
      test_model: "",
      openai_organization: "",
      tag: null,
      setting: "",
      param_override: "",
    });
    const single = await admin.get(`/api/channel/${channel?.id}`);
    expect(single.text).not.toContain("sk-secret");
    expect(single.body["data"]).toMatchObject({ key: "", key_count: 1, key_hint: "" });
  });

  test("makes one channel per line of the key, but not of service accounts", async () => {
    await create({ key: " sk-1 \r\n\n sk-2\n" });
    expect(await list()).toHaveLength(2);
    await create({ name: "json", key: '{\n"type": "service_account"\n}' });
    await create({ name: "vertex", type: 41, key: "line one\nline two", other: "us-central1" });
    expect(await list()).toHaveLength(4);
    const many = await create({ name: "many", key: "sk-a\nsk-b\nsk-c", multi_key: true });
    expect(await read(many)).toMatchObject({ key_count: 3 });
  });

  test("fills in the defaults of types and drops what is doubled", async () => {
    expect(await read(await create({ type: 3 }))).toMatchObject({ other: "2023-06-01-preview" });
    expect(await read(await create({ type: 18 }))).toMatchObject({ other: "v2.1" });
    const channel = await read(
      await create({
        models: " a, b ,,a ",
        group: " vip ,default,vip",
        base_url: "https://example.com/v1/",
        weight: -3,
        status: 3,
        priority: -999,
        tag: " t ",
      }),
    );
    expect(channel).toMatchObject({
      models: "a,b",
      group: "vip,default",
      base_url: "https://example.com/v1",
      weight: 0,
      status: 1,
      priority: -999,
      tag: "t",
    });
  });

  test("ignores what only the server may set", async () => {
    const channel = await read(
      await create({
        created_time: null,
        balance: 5,
        used_quota: 7,
        test_time: 9,
        response_time: 9,
        other_info: "x",
        groups: ["vip"],
        DeletedAt: null,
      }),
    );
    expect(channel).toMatchObject({
      balance: 0,
      used_quota: 0,
      test_time: 0,
      response_time: 0,
      other_info: "",
      group: "default",
    });
  });

  test("takes the key of another channel: by name, and as consoles of the family copy a row", async () => {
    const source = await create({ key: "sk-original" });
    const copied = await create({ name: "copied", key: "", copy_from: source });
    expect(await app.operations.channels.store.keyOf(copied)).toBe("sk-original");
    const row = await read(source);
    const family = await create({
      ...row,
      id: source,
      name: "oneCopy",
      key: String(source),
      created_time: null,
      balance: 0,
      used_quota: 0,
    });
    expect(await app.operations.channels.store.keyOf(family)).toBe("sk-original");
    expect(await refused({ ...form, key: "", copy_from: 999_999 })).toEqual([200, "CH8", "Channel does not exist."]);
  });

  test("refuses what a channel cannot be, and then makes none", async () => {
    const nameAndKey = [200, "CH1", "Please fill in the channel name and channel key!"];
    expect(await refused({ ...form, name: " " })).toEqual(nameAndKey);
    expect(await refused({ ...form, key: "" })).toEqual(nameAndKey);
    expect(await refused({ ...form, key: " \n " })).toEqual(nameAndKey);
    expect(await refused({ ...form, models: " , " })).toEqual([200, "CH2", "Please select at least one model!"]);
    const mapping = [200, "CH3", "The model mapping must be in a valid JSON format!"];
    for (const model_mapping of ["{", "[]", '{"a":1}', '{"a":"b","b":"a"}'])
      expect(await refused({ ...form, model_mapping })).toEqual(mapping);
    expect(await refused({ ...form, status_code_mapping: "[]" })).toEqual([
      200,
      "CH4",
      "The status code mapping must be in a valid JSON format!",
    ]);
    expect(await refused({ ...form, type: 41 })).toEqual([200, "CH5", "The deployment region must not be empty."]);
    expect(await refused({ ...form, type: 41, other: '{"gemini":"x"}' })).toEqual([
      200,
      "CH6",
      "The deployment region must contain the key default.",
    ]);
    const long = "m".repeat(256);
    expect(await refused({ ...form, models: `a,${long}` })).toEqual([
      200,
      "CH7",
      `The model name is too long: ${long}`,
    ]);
    expect(await refused({ ...form, type: 999 })).toEqual([200, "CH15", "Unknown channel type."]);
    expect(await refused({ ...form, status: 4 })).toEqual([200, "CH17", "The status can only be set to 1 or 2."]);
    expect(await list()).toEqual([]);
  });

  test("names the member of a wrong type or size", async () => {
    const wrong = async (more: Record<string, unknown>) => ((await refused({ ...form, ...more })) as string[])[2];
    expect(await wrong({ name: 5 })).toBe("Invalid input: name must be a string.");
    expect(await wrong({ type: 1.5 })).toBe("Invalid input: type must be an integer.");
    expect(await wrong({ priority: -1000 })).toBe("Invalid input: priority must be at least -999.");
    expect(await wrong({ auto_ban: 2 })).toBe("Invalid input: auto_ban must be at most 1.");
    expect(await wrong({ max_input_tokens: -1 })).toBe("Invalid input: max_input_tokens must be at least 0.");
    expect(await wrong({ name: "名".repeat(192) })).toBe("Invalid input: name is too long.");
    expect(await wrong({ tag: "t".repeat(192) })).toBe("Invalid input: tag is too long.");
    expect(await wrong({ group: "g".repeat(65) })).toBe("Invalid input: group is too long.");
    expect(await wrong({ setting: "[]" })).toBe("Invalid input: setting must be a JSON object.");
    expect(await wrong({ param_override: "x" })).toBe("Invalid input: param_override must be a JSON object.");
    expect(await wrong({ key: "k\n".repeat(1001) })).toBe("Invalid input: key is too long.");
    const models = Array.from({ length: 5001 }, (_, index) => `m${index}`).join(",");
    expect(await wrong({ models, group: "a,b,c,d" })).toBe("Invalid input: models is too long.");
  });

  test("keeps names of 191 characters of any script, and hostile ones", async () => {
    for (const name of ["😀".repeat(191), "'; drop table channels; --", "<script>alert(1)</script>", "a\u0000b"]) {
      const reply = await admin.post("/api/channel/", { ...form, name });
      expect(reply.status).toBeLessThan(500);
    }
    const names = (await list("?page_size=100")).map((channel) => channel.name);
    expect(names).toEqual(
      expect.arrayContaining(["😀".repeat(191), "'; drop table channels; --", "<script>alert(1)</script>"]),
    );
  });
});

describe("lists", () => {
  const names = async (query: string) => (await list(query)).map((channel) => channel.name);

  test("page from 0, 10 rows unless asked, at most 100, with the total in a header", async () => {
    for (let index = 0; index < 12; index += 1) await create({ name: `c${index}`, priority: index === 3 ? 9 : 0 });
    expect(await names("")).toEqual(["c3", "c11", "c10", "c9", "c8", "c7", "c6", "c5", "c4", "c2"]);
    expect(await names("?p=1&page_size=10")).toEqual(["c1", "c0"]);
    expect(await names("?p=-1&page_size=2&id_sort=true")).toEqual(["c11", "c10"]);
    expect(await names("?p=NaN&page_size=0")).toHaveLength(10);
    expect(await names("?page_size=1000")).toHaveLength(12);
    expect(await names("?p=9007199254740991&page_size=100")).toEqual([]);
    expect(await names("?sort=name&order=asc&page_size=3")).toEqual(["c0", "c1", "c10"]);
    expect(await names("?sort=key_sealed&page_size=1")).toEqual(["c3"]);
    expect((await admin.get("/api/channel?page_size=5")).headers["x-total-count"]).toBe("12");
  });

  test("search by every field, unpaged unless asked", async () => {
    await create({ name: "Alpha", key: "sk-alpha", models: "gpt-4o", group: "vip", tag: "x" });
    const beta = await create({ name: "Beta", key: "sk-beta", models: "claude", status: 2, type: 14 });
    const found = async (query: string) =>
      (await admin.data<Channel[]>(admin.get(`/api/channel/search?${query}`))).map((channel) => channel.name);
    expect(await found("keyword=%20alp%20&group=&model=")).toEqual(["Alpha"]);
    expect(await found("keyword=sk-beta&group=null&model=")).toEqual(["Beta"]);
    expect(await found(`keyword=${beta}`)).toEqual(["Beta"]);
    expect(await found("model=gpt")).toEqual(["Alpha"]);
    expect(await found("group=vip")).toEqual(["Alpha"]);
    expect(await found("status=2,3&type=14")).toEqual(["Beta"]);
    expect(await found("keyword=%25")).toEqual([]);
    expect(await found("keyword=_lpha")).toEqual([]);
    expect(await found("")).toEqual(["Beta", "Alpha"]);
    expect(await found("page_size=1&p=1")).toEqual(["Alpha"]);
    expect(await found("tag_mode=true")).toEqual(["Alpha"]);
  });

  test("page over tags", async () => {
    for (const tag of ["a", "b", "a"]) await create({ tag, name: tag });
    expect(await names("?tag_mode=1&page_size=1")).toEqual(["a", "a"]);
    expect(await names("?tag_mode=true&p=1&page_size=1")).toEqual(["b"]);
  });
});

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
    expect(await app.operations.channels.store.keyOf(id)).toBe("sk-secret-of-one");
    await admin.data(admin.put("/api/channel/", { id, key: " sk-x\n\nsk-y " }));
    expect(await app.operations.channels.store.keyOf(id)).toBe("sk-x\nsk-y");
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

  test("refuses to overwrite a newer version when the client asks for that", async () => {
    const id = await create();
    const etag = String((await admin.get(`/api/channel/${id}`)).headers["etag"]);
    const put = (version: string, name: string) =>
      admin.call("PUT", "/api/channel/", { headers: { "if-match": version }, body: { id, name } });
    expect((await put(etag, "two")).headers["etag"]).toBe('"2"');
    expect(await refusalOf(put(etag, "three"))).toEqual([
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
    expect(await refusalOf(admin.delete("/api/channel/abc"))).toEqual([200, "G1", "Invalid parameter."]);
    expect(await admin.data(admin.delete("/api/channel/disabled"))).toBe(1);
    expect(await admin.data(admin.post("/api/channel/batch", { ids: [b, 999_999] }))).toBe(2);
    expect(await list()).toEqual([]);
    expect(c).toBeGreaterThan(b);
    const none = [200, "CH16", "Please select the channel you want to delete first!"];
    expect(await refusalOf(admin.post("/api/channel/batch", { ids: [] }))).toEqual(none);
    expect(await refusalOf(admin.post("/api/channel/batch", {}))).toEqual(none);
    expect(await refusalOf(admin.post("/api/channel/batch", { ids: ["x"] }))).toEqual([
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
    expect(await refusalOf(admin.post("/api/channel/tag/disabled", { tag: " " }))).toEqual(untagged);
    expect(await refusalOf(admin.post("/api/channel/tag/enabled", {}))).toEqual(untagged);
    expect(await refusalOf(admin.put("/api/channel/tag", { new_tag: "x" }))).toEqual(untagged);
    expect(await codeOf(admin.put("/api/channel/tag", { tag: "t", models: "m".repeat(256) }))).toBe("CH7");
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
    expect(await app.operations.channels.store.keyOf(copied.id)).toBe("sk-secret-of-one");
    expect(await refusalOf(admin.call("POST", "/api/channel/999999/copy", {}))).toEqual([
      200,
      "CH8",
      "Channel does not exist.",
    ]);
  });

  test("changes many and tells how each fared", async () => {
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
    expect(await refusalOf(admin.post("/api/channel/bulk", { ids: [a], action: "explode" }))).toEqual([
      200,
      "U12",
      "Unknown action.",
    ]);
    expect(await codeOf(admin.post("/api/channel/bulk", { filter: {}, action: "delete" }))).toBe("CH16");
    expect(await codeOf(admin.post("/api/channel/bulk", { ids: [a], action: "sync" }))).toBe("CH8");
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
    const types = await admin.data<{ type: number; label: string }[]>(admin.get("/api/channel/types"));
    expect(types.find((entry) => entry.type === 1)).toMatchObject({
      label: "OpenAI",
      can_test: true,
      can_balance: true,
    });
  });
});

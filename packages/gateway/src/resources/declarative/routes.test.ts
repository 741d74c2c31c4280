import { eachDatabase } from "@fairway/testkit/databases";
import type { DeclarativeChange } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";

eachDatabase("documents", (open) => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    for (const table of ["channels", "abilities", "tokens", "options", "managed_resources"] as const)
      await app.database.db.deleteFrom(table).execute();
    await app.snapshots.refresh();
  });

  const apiVersion = "fairway.dev/v1alpha1";
  const channel = (name: string, spec: object = {}) => ({
    apiVersion,
    kind: "Channel",
    metadata: { name },
    spec: { type: "openai", models: ["gpt-4o"], key: "sk-canary", ...spec },
  });
  const options = (name: string, values: object, json: object = {}) => ({
    apiVersion,
    kind: "OptionSet",
    metadata: { name },
    spec: { values, json },
  });
  const token = (name: string, spec: object = {}) => ({
    apiVersion,
    kind: "Token",
    metadata: { name },
    spec: { owner: { username: "ann" }, ...spec },
  });

  const send = (verb: "plan" | "apply", documents: unknown[], more: object = {}) =>
    members.root.post(verb === "plan" ? "/api/declarative/plan" : "/api/declarative/apply", {
      manager: "file:test",
      documents,
      ...more,
    });
  const plan = (documents: unknown[], more: object = {}) =>
    members.root.data<DeclarativeChange[]>(send("plan", documents, more));
  const apply = (documents: unknown[], more: object = {}) =>
    members.root.data<DeclarativeChange[]>(send("apply", documents, more));
  const actions = (changes: DeclarativeChange[]) => changes.map(({ name, action }) => `${name}: ${action}`);
  const rows = () => app.database.db.selectFrom("channels").selectAll().orderBy("id").execute();
  const exported = () =>
    members.root.data<{ kind: string; metadata: { name: string }; spec: Record<string, unknown> }[]>(
      members.root.get("/api/declarative/export"),
    );

  describe("channels", () => {
    test("are planned, made, found in sync, changed field by field, and deleted", async () => {
      const settings = { limits: { concurrency: 5 }, multi_key_mode: "polling" };
      const documents = [channel("main", { groups: ["default", "vip"], modelMapping: { a: "gpt-4o" }, settings })];
      expect(actions(await plan(documents))).toEqual(["main: create"]);
      expect(await rows()).toEqual([]);
      await apply(documents);
      expect(await rows()).toMatchObject([
        { name: "main", type: 1, group: "default,vip", model_mapping: '{"a":"gpt-4o"}', weight: 0 },
      ]);
      expect(JSON.parse((await rows())[0]?.setting ?? "")).toEqual(settings);
      expect(await app.database.db.selectFrom("abilities").select("group").execute()).toHaveLength(2);
      expect(actions(await plan(documents))).toEqual(["main: unchanged"]);
      const changed = [channel("main", { groups: ["default"], key: "sk-canary-2", weight: 3 })];
      const [change] = await plan(changed);
      expect(change?.fields).toEqual([
        { field: "groups", old: ["default", "vip"], new: ["default"] },
        { field: "weight", old: 0, new: 3 },
        { field: "key", new: "(changed)" },
      ]);
      const reply = await send("apply", changed);
      expect(reply.text).not.toContain("canary");
      expect(await rows()).toMatchObject([{ group: "default", weight: 3, model_mapping: '{"a":"gpt-4o"}' }]);
      expect(actions(await apply([]))).toEqual([]);
      expect(actions(await apply([], { prune: true }))).toEqual(["main: delete"]);
      expect(await rows()).toEqual([]);
    });

    test("named ones alone are deleted, as far as the manager owns them", async () => {
      await apply(["one", "two", "three"].map((name) => channel(name)));
      await apply([channel("foreign")], { manager: "file:other" });
      const remove = ["two", "foreign", "none"].map((name) => ({ kind: "Channel", name }));
      expect(actions(await plan([channel("one", { weight: 2 })], { remove }))).toEqual(["one: update", "two: delete"]);
      await apply([channel("one", { weight: 2 })], { remove });
      expect((await rows()).map(({ name }) => name)).toEqual(["one", "three", "foreign"]);
    });

    test("what is exported plans to nothing", async () => {
      const made = {
        type: 3,
        name: "Azure (EU)",
        key: "k",
        models: "gpt-4o",
        group: "default",
        base_url: "https://x.example",
        other: "2024-06-01",
      };
      await members.root.data(members.root.post("/api/channel/", made));
      await members.user.data(members.user.post("/api/token/", { name: "my key", remain_quota: 5, expired_time: -1 }));
      await setOptions(members.root, { Price: "8", ModelRatio: '{"b": 2, "a": 1}' });
      const documents = await exported();
      expect(documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
        "Channel azure-eu",
        "OptionSet options",
        "User boss",
        "User ann",
        "Token my-key",
      ]);
      expect(new Set(actions(await plan(documents)).map((text) => text.split(": ")[1]))).toEqual(
        new Set(["unchanged"]),
      );
      await apply(documents);
      expect(await rows()).toHaveLength(1);
      expect(await app.database.db.selectFrom("tokens").selectAll().execute()).toHaveLength(1);
    });

    test("what is exported plans to nothing, whatever names and ends consoles wrote", async () => {
      const name = `long ${"\u{1F511}".repeat(186)}`;
      await members.root.data(members.root.post("/api/channel/", { name, key: "k", models: "m" }));
      const token = { name: `long ${"\u{1F511}".repeat(25)}`, expired_time: Number.MAX_SAFE_INTEGER };
      await members.user.data(members.user.post("/api/token/", token));
      const documents = await exported();
      expect(documents.find(({ kind }) => kind === "Token")?.spec).toMatchObject({ expiresAt: null });
      expect(actions(await plan(documents)).filter((text) => text.startsWith("long"))).toEqual([
        "long: unchanged",
        "long: unchanged",
      ]);
    });

    test("belong to their first owner, keep their type, and are not mostly deleted by accident", async () => {
      await apply([channel("main")]);
      const other = { manager: "file:other" };
      const [taken] = await plan([channel("main", { weight: 9 })], other);
      expect(taken).toMatchObject({ action: "conflict", message: "it is managed by file:test" });
      await apply([channel("main", { weight: 9 })], other);
      expect(await rows()).toMatchObject([{ weight: 0 }]);
      expect(actions(await apply([channel("main", { weight: 9 })], { ...other, force: true }))).toEqual([
        "main: update",
      ]);
      const [typed] = await plan([channel("main", { type: "azure" })], { ...other });
      expect(typed).toMatchObject({ action: "conflict", message: "the type of a channel does not change" });
      const four = ["a", "b", "c", "d"].map((name) => channel(name));
      await apply(four);
      expect(await readRefusal(send("apply", four.slice(0, 1), { prune: true }))).toEqual([
        200,
        "M3",
        "More than half of what file:test manages would be deleted. If that is meant, ask again with force.",
      ]);
      expect(actions(await apply(four.slice(0, 1), { prune: true, force: true }))).toHaveLength(4);
      expect((await rows()).map(({ name }) => name)).toEqual(["main", "a"]);
    });

    test("stay or are switched off when their document says so", async () => {
      await apply([channel("a", { deletionPolicy: "Disable" }), channel("b", { deletionPolicy: "Orphan" })]);
      await apply([], { prune: true });
      expect((await rows()).map(({ name, status }) => [name, status])).toEqual([
        ["a", 2],
        ["b", 1],
      ]);
      expect(await app.database.db.selectFrom("managed_resources").selectAll().execute()).toEqual([]);
    });

    test("documents that cannot be used change nothing at all", async () => {
      const bad: [object, string][] = [
        [channel("x", { models: undefined }), "a new channel needs models"],
        [channel("x", { type: "nobody" }), "there is no channel type nobody"],
        [channel("x", { modelMapping: { a: "b", b: "a" } }), "The model mapping leads in a circle: a → b → a."],
        [channel("x", { unknown: 1 }), "spec:"],
        [channel("x", { settings: { limits: { rpm: 0 } } }), "setting.limits.rpm must be at least 1"],
        [token("x", { limits: { rpm: 0 } }), "spec.limits.rpm"],
        [{ ...channel("x"), apiVersion: "v1" }, "apiVersion:"],
        [token("x", { owner: { username: "nobody" } }), "there is no user nobody"],
        [token("x", { expiresAt: "soon" }), "expiresAt is no time"],
        [options("x", { Price: "cheap" }), "The value of Price must be a number above 0."],
        [options("x", { Unheard: "1" }), "Unknown option Unheard."],
      ];
      for (const [document, reason] of bad) {
        const reply = await send("apply", [channel("good"), document]);
        expect(reply.body).toMatchObject({ code: "M2" });
        expect(reply.body["message"]).toContain(reason);
      }
      expect(await readCode(send("apply", [channel("x"), channel("x")]))).toBe("M2");
      expect(await readCode(send("plan", [], { manager: "" }))).toBe("G1");
      expect(await rows()).toEqual([]);
    });
  });

  describe("a channel without its key", () => {
    test("is made, but stays off", async () => {
      await apply([channel("main", { key: undefined })]);
      expect(await rows()).toMatchObject([{ status: 2 }]);
    });

    test.each([{}, { enabled: true }])("stays off at every apply until a key comes, with %j", async (more) => {
      const keyless = channel("main", { key: undefined, ...more });
      for (const action of ["create", "unchanged", "unchanged"]) {
        expect(await apply([keyless])).toMatchObject([{ action, message: "it has no key, so it stays off" }]);
        expect(await rows()).toMatchObject([{ status: 2 }]);
      }
      await apply([channel("main", more)]);
      expect(await rows()).toMatchObject([{ status: 1 }]);
      expect(actions(await plan([channel("main", more)]))).toEqual(["main: unchanged"]);
    });

    test("is on where its server takes calls without one, and off when its document says so", async () => {
      await apply([channel("vllm", { type: "compatible", baseUrl: "http://vllm:8000", key: undefined })]);
      await apply([channel("off", { enabled: false })]);
      expect((await rows()).map(({ name, status }) => [name, status])).toEqual([
        ["vllm", 1],
        ["off", 2],
      ]);
    });
  });

  describe("options and tokens", () => {
    test("option sets write what differs, tell no secrets, and share no option", async () => {
      const documents = [
        options("site", { SystemName: "Ours", SMTPToken: "canary" }, { GroupRatio: { default: 1, vip: 2 } }),
      ];
      const reply = await send("apply", documents);
      expect(reply.text).not.toContain("canary");
      expect(actions(await plan(documents))).toEqual(["site: unchanged"]);
      expect(app.snapshots.current().options).toMatchObject({ SystemName: "Ours", SMTPToken: "canary" });
      const [rival] = await plan([options("more", { SystemName: "Theirs" })]);
      expect(rival).toMatchObject({ action: "conflict", message: "SystemName is set by site of file:test" });
      expect(JSON.stringify(await exported())).not.toContain("canary");
    });

    test("tokens are made once with their first amount, and follow the document afterwards", async () => {
      const documents = [
        token("ci", { quota: { amount: 700 }, modelLimits: ["gpt-4o"], expiresAt: "2030-01-01T00:00:00Z" }),
      ];
      await apply(documents);
      const [made] = await app.database.db.selectFrom("tokens").selectAll().execute();
      expect(made).toMatchObject({
        user_id: members.user.userId,
        remain_quota: 700,
        model_limits: "gpt-4o",
        model_limits_enabled: 1,
        expired_time: 1_893_456_000,
      });
      await app.database.db.updateTable("tokens").set({ remain_quota: 5 }).execute();
      expect(actions(await plan(documents))).toEqual(["ci: unchanged"]);
      await apply([
        token("ci", {
          quota: { amount: 700 },
          disabled: true,
          expiresAt: null,
          allowIps: ["10.0.0.0/8"],
          limits: { rpm: 9 },
        }),
      ]);
      const [after] = await app.database.db.selectFrom("tokens").selectAll().execute();
      expect(after).toMatchObject({
        remain_quota: 5,
        status: 2,
        expired_time: -1,
        allow_ips: "10.0.0.0/8",
        limits: '{"rpm":9}',
        key_hash: made?.key_hash,
      });
      await apply([], { prune: true });
      expect((await app.database.db.selectFrom("tokens").select("deleted_at").execute())[0]?.deleted_at).not.toBeNull();
    });
  });

  describe("the console against documents", () => {
    const conflict = (name: string, kind = "Channel") => [
      409,
      "M1",
      `${kind} ${name} is managed by file:test, please change it there.`,
    ];

    test("cannot change what a document owns, but the rest, and can switch off", async () => {
      await apply([channel("main", { baseUrl: "https://a.example" })]);
      const [row] = await rows();
      const id = row?.id ?? 0;
      const put = (body: object) => members.admin.put("/api/channel/", { id, ...body });
      expect(await readRefusal(put({ base_url: "https://b.example" }))).toEqual(conflict("main"));
      expect((await put({ models: "gpt-4o,other" })).body).toMatchObject({
        reason: "managed_conflict",
        owner: "file:test",
      });
      expect(await readCode(put({ key: "sk-other" }))).toBe("M1");
      await members.admin.data(put({ models: "gpt-4o", base_url: "https://a.example", weight: 5, key: "" }));
      await members.admin.data(put({ status: 2 }));
      expect(await rows()).toMatchObject([{ weight: 5, status: 2, base_url: "https://a.example" }]);
      expect(await readCode(members.admin.delete(`/api/channel/${id}`))).toBe("M1");
      expect(await readCode(members.admin.post("/api/channel/batch", { ids: [id] }))).toBe("M1");
      expect(await readCode(members.admin.delete("/api/channel/disabled"))).toBe("M1");
      expect(await readCode(members.admin.post("/api/channel/bulk", { ids: [id], action: "delete" }))).toBe("M1");
      await members.admin.data(members.admin.post("/api/channel/batch/tag", { ids: [id], tag: "t" }));
      expect(await readCode(members.admin.put("/api/channel/tag", { tag: "t", models: "x" }))).toBe("M1");
      expect(await members.admin.data(members.admin.get("/api/declarative/managed"))).toEqual([
        {
          kind: "Channel",
          name: "main",
          resource_id: id,
          owner: "file:test",
          fields: ["type", "baseUrl", "models", "key"],
          override_until: 0,
        },
      ]);
    });

    test("a document that does not name the key cannot send it to another server", async () => {
      await apply([channel("main", { baseUrl: "https://a.example", key: undefined, enabled: false })]);
      const [row] = await rows();
      await members.root.data(members.root.put("/api/channel/", { id: row?.id, key: "sk-of-the-console" }));
      const moved = channel("main", { baseUrl: "https://evil.example", key: undefined, enabled: false });
      expect(await readCode(send("apply", [moved]))).toBe("CH21");
      expect(await rows()).toMatchObject([{ base_url: "https://a.example" }]);
      await apply([channel("main", { baseUrl: "https://b.example", key: "sk-of-the-document" })]);
      expect(await rows()).toMatchObject([{ base_url: "https://b.example" }]);
    });

    test("holds for tokens and options too", async () => {
      await apply([options("site", { SystemName: "Ours" }, { ModelRatio: { m: 1 } }), token("ci", { group: "" })]);
      const set = (key: string, value: string) => members.root.put("/api/option/", { key, value });
      expect(await readRefusal(set("SystemName", "Theirs"))).toEqual(conflict("site", "OptionSet"));
      expect(await readCode(members.root.put("/api/option/batch", [{ key: "SystemName", value: "x" }]))).toBe("M1");
      expect(await readCode(members.root.post("/api/option/rest_model_ratio", {}))).toBe("M1");
      await members.root.data(set("SystemName", "Ours"));
      await members.root.data(set("Price", "9"));
      const [{ id } = { id: 0 }] = await app.database.db.selectFrom("tokens").select("id").execute();
      expect(await readCode(members.user.delete(`/api/token/${id}`))).toBe("M1");
      expect(await readCode(members.user.put("/api/token/", { id, name: "ci", group: "vip" }))).toBe("M1");
      expect(await readCode(members.user.post("/api/token/batch", { ids: [id] }))).toBe("M1");
      await members.user.data(members.user.put("/api/token/", { id, name: "renamed", expired_time: -1 }));
    });

    test("holds for what a form of a token leaves out or switches off", async () => {
      await apply([token("ci", { modelLimits: ["gpt-4o"], expiresAt: "2030-01-01T00:00:00Z" })]);
      const [{ id } = { id: 0 }] = await app.database.db.selectFrom("tokens").select("id").execute();
      const row = await members.user.data<object>(members.user.get(`/api/token/${id}`));
      const put = (change: object) => members.user.put("/api/token/", { ...row, ...change });
      expect(await readCode(members.user.put("/api/token/", { id, name: "ci" }))).toBe("M1");
      expect(await readCode(put({ model_limits_enabled: false }))).toBe("M1");
      expect(await readCode(put({ expired_time: undefined }))).toBe("M1");
      await members.user.data(put({ name: "renamed", remain_quota: 7 }));
    });

    test("holds for the keys of a channel, which may be switched all the same", async () => {
      await apply([channel("main")]);
      const [row] = await rows();
      const manage = (action: string) =>
        members.admin.post("/api/channel/multi_key/manage", { channel_id: row?.id, action, key_index: 0 });
      expect(await readCode(manage("delete_key"))).toBe("M1");
      expect(await readCode(manage("delete_disabled_keys"))).toBe("M1");
      expect(await readCode(manage("disable_key"))).toBe("G2");
    });

    test("only the super administrator sends documents", async () => {
      expect(await readCode(members.admin.post("/api/declarative/apply", { manager: "x", documents: [] }))).toBe("AU7");
      expect(await readCode(members.admin.get("/api/declarative/export"))).toBe("AU7");
      expect(await readCode(members.user.get("/api/declarative/managed"))).toBe("AU7");
    });
  });
});

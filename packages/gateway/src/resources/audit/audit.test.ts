import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import type { AuditRow } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { redacted } from "./redact.ts";
import { createAuditStore, type AuditStore } from "./store.ts";

describe("audit over HTTP", () => {
  let app: ManagementApp;
  let root: ApiCaller;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite") });
    root = await app.signIn("root");
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.db.deleteFrom("audit_log").execute();
  });

  const rows = (query = "") => root.data<AuditRow[]>(root.get(`/api/audit${query}`));
  const parsed = ({ old_value, new_value }: AuditRow) => ({
    old: old_value === null ? null : (JSON.parse(old_value) as unknown),
    new: new_value === null ? null : (JSON.parse(new_value) as unknown),
  });

  test("reports who changed what, from what to what, from where", async () => {
    await root.data(root.post("/api/user/", { username: "ann", password: "canary-password" }));
    const { id } = await app.database.db
      .selectFrom("users")
      .select("id")
      .where("username", "=", "ann")
      .executeTakeFirstOrThrow();
    await root.data(root.put("/api/user/", { id, display_name: "Ann", password: "canary-password-2" }));
    await root.data(root.delete(`/api/user/${id}`));
    const [deleted, updated, created] = await rows();
    expect(updated).toMatchObject({
      user_id: 1,
      username: "root",
      action: "userUpdate",
      target: `user ${id}`,
      ip: "127.0.0.1",
    });
    expect(updated && parsed(updated)).toEqual({
      old: { display_name: "ann", password: "***" },
      new: { display_name: "Ann", password: "***" },
    });
    expect(created).toMatchObject({ action: "userCreate", old_value: null });
    expect(deleted && parsed(deleted)).toMatchObject({ old: { username: "ann", role: 1 }, new: null });
    expect(JSON.stringify(await rows())).not.toContain("canary");
  });

  test("reports what a budget was before, and not what was used of it", async () => {
    const budget = { scope: "group", subject: "vip", period: "day", quota_limit: 5 };
    const { id } = await root.data<{ id: number }>(root.post("/api/budget/", budget));
    await app.database.db.updateTable("budgets").set({ used: 3 }).execute();
    await root.data(root.put("/api/budget/", { id, quota_limit: 7 }));
    const [updated, created] = await rows(`?target=budget%20${id}`);
    expect(updated && parsed(updated)).toEqual({ old: { quota_limit: 5 }, new: { quota_limit: 7 } });
    expect(created && parsed(created)).toMatchObject({ old: null, new: { subject: "vip", quota_limit: 5 } });
  });

  test("keeps secrets of channels, options, tokens and codes out", async () => {
    const channel = { type: 1, name: "c", key: "sk-canary-channel", models: "m", group: "default" };
    await root.data(root.post("/api/channel/", channel));
    await root.data(root.put("/api/option/", { key: "SMTPToken", value: "canary-mail" }));
    await root.data(root.put("/api/option/batch", [{ key: "GitHubClientSecret", value: "canary-hub" }]));
    await root.data(root.put("/api/option/", { key: "SystemName", value: "Ours" }));
    await root.data(root.post("/api/user/self/access_tokens", { name: "cli", scopes: ["read"] }));
    await root.data(root.post("/api/token/", { name: "t", expired_time: -1, remain_quota: 1 }));
    const codes = await root.data<string[]>(root.post("/api/redemption/", { name: "r", quota: 5, count: 1 }));
    const text = JSON.stringify(await rows("?page_size=100"));
    expect(text).not.toContain("canary");
    expect(text).not.toContain(codes[0]);
    const keys = await app.database.db.selectFrom("tokens").select(["key_hash", "key_sealed"]).execute();
    for (const { key_hash, key_sealed } of keys) {
      expect(text).not.toContain(key_hash);
      expect(text).not.toContain(key_sealed);
    }
    const [name] = await rows("?target=option%20SystemName");
    expect(name && parsed(name)).toEqual({ old: null, new: { key: "SystemName", value: "Ours" } });
  });

  test("leaves nothing for reads and refusals", async () => {
    await root.get("/api/user/self");
    await root.get("/api/user/aff");
    await root.put("/api/option/", { key: "NoSuchOption", value: "1" });
    await root.post("/api/user/amount", { amount: 5 });
    expect(await rows()).toEqual([]);
  });

  test("filters, pages, counts, and is for the super administrator only", async () => {
    for (const value of ["a", "b", "c"]) await root.data(root.put("/api/option/", { key: "Notice", value }));
    await root.data(root.put("/api/user/self", { display_name: "Chief" }));
    const page = await root.get("/api/audit?p=1&page_size=3");
    expect(page.headers["x-total-count"]).toBe("4");
    expect(page.body["data"]).toHaveLength(1);
    expect(await rows("?action=optionUpdate&username=root&user_id=1")).toHaveLength(3);
    expect(await rows("?username=ann")).toEqual([]);
    expect(await rows(`?end_timestamp=${Math.floor(app.clock.now() / 1000) - 1}`)).toEqual([]);
    expect(await rows(`?start_timestamp=${Math.floor(app.clock.now() / 1000)}`)).toHaveLength(4);
    await app.anonymous().post("/api/user/register", { username: "bob", password: "a good password" });
    const bob = await app.signIn("bob", "a good password");
    expect((await bob.get("/api/audit")).body).toMatchObject({ success: false, code: "AU7" });
  });
});

eachDatabase("audit store", (open) => {
  let kit: StoreKit;
  let store: AuditStore;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createAuditStore(kit);
  });
  afterAll(() => kit.database.close());

  test("keeps rows and finds them", async () => {
    const entry = { user_id: 3, username: "ann", target: "channel 1", old_value: null, ip: "::1" };
    await store.add({ ...entry, action: "channelUpdate", new_value: '{"名":"值"}' });
    await store.add({ ...entry, action: "channelDelete", new_value: null });
    const all = { user_id: 0, username: "", action: "", target: "", start_timestamp: 0, end_timestamp: 0 };
    const found = await store.list({ ...all, offset: 0, limit: 1 });
    expect(found).toMatchObject({ total: 2, rows: [{ action: "channelDelete", created_at: START_SECONDS }] });
    const one = await store.list({ ...all, user_id: 3, action: "channelUpdate", offset: 0, limit: 10 });
    expect(one.rows).toMatchObject([{ new_value: '{"名":"值"}', old_value: null, user_id: 3 }]);
  });
});

describe("redacted input", () => {
  test("hides by name at every depth, and cuts what is long", () => {
    expect(redacted({ a: [{ apiKey: "x", password2: "x", name: "n" }], model_limits_enabled: true })).toBe(
      '{"a":[{"apiKey":"***","password2":"***","name":"n"}],"model_limits_enabled":true}',
    );
    expect(
      redacted([
        { key: "SystemName", value: "shown" },
        { key: "SMTPToken", value: "x" },
      ]),
    ).toBe('[{"key":"SystemName","value":"shown"},{"key":"SMTPToken","value":"***"}]');
    expect(redacted({ text: "x".repeat(20_000) }).length).toBeLessThan(17_000);
    let deep: unknown = "end";
    for (let i = 0; i < 100; i += 1) deep = { deep };
    expect(redacted(deep)).toContain("***");
  });
});

import { createDatabase } from "@fairway/testkit/databases";
import type { AuditRow, Token, TokenActivity, TokenFacts } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";
import { importedKey } from "../../storage/secrets/token-key-forms.ts";

let app: ManagementApp;
let members: Members;
let token: Token;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  const { user } = members;
  token = await user.data<Token>(user.post("/api/token/", { name: "build-bot", unlimited_quota: true }));
});
afterAll(() => app.close());

const MISSING = [200, "K2", "Token does not exist."];
const facts = (caller: Members["user"], id = token.id) => caller.get(`/api/token/${id}/facts`);
const setStatus = (caller: Members["user"], status: number, headers: Record<string, string> = {}) =>
  caller.call("PUT", `/api/token/${token.id}/status`, { body: { status }, headers });

test("an owner reads the facts with both ends of the key, an administrator without them", async () => {
  const { key, ...rest } = token;
  const own = await members.user.data<TokenFacts>(facts(members.user));
  expect(own).toEqual({ ...rest, username: "ann", key_hint: `sk-${key.slice(0, 4)}…${key.slice(-4)}` });
  for (const caller of [members.admin, members.root]) {
    const reply = await facts(caller);
    expect(reply.body["data"]).toEqual({ ...rest, username: "ann", key_hint: "" });
    expect(JSON.stringify(reply.body)).not.toContain(key.slice(0, 4));
  }
});

test("no user reads a token of another, and no administrator one of an equal or a superior", async () => {
  const { root, admin, user } = members;
  const ofRoot = await root.data<Token>(root.post("/api/token/", { name: "quay" }));
  const ofAdmin = await admin.data<Token>(admin.post("/api/token/", { name: "pier" }));
  expect(await readRefusal(facts(user, ofAdmin.id))).toEqual(MISSING);
  expect(await readRefusal(facts(user, 999_999))).toEqual(MISSING);
  expect(await readRefusal(facts(admin, 999_999))).toEqual(MISSING);
  expect(await readCode(facts(admin, ofRoot.id))).toBe("U2");
  expect(await readCode(admin.get(`/api/user/${root.userId}/tokens`))).toBe("U2");
  expect(await admin.data(facts(admin, ofAdmin.id))).toMatchObject({ name: "pier", username: "boss" });
  expect(await root.data(facts(root, ofAdmin.id))).toMatchObject({ name: "pier", key_hint: "" });
});

test("lists the tokens of a user page by page, without keys", async () => {
  const { admin, user } = members;
  const second = await user.data<Token>(user.post("/api/token/", { name: "laptop" }));
  const reply = await admin.get(`/api/user/${user.userId}/tokens?page_size=1`);
  expect(reply.headers["x-total-count"]).toBe("2");
  expect(reply.body["data"]).toMatchObject([{ name: "laptop", username: "ann", key_hint: "" }]);
  expect(await admin.data(admin.get(`/api/user/${user.userId}/tokens?p=1&page_size=1`))).toMatchObject([
    { name: "build-bot" },
  ]);
  expect(JSON.stringify(reply.body)).not.toContain(second.key);
  expect(await readCode(admin.get("/api/user/999999/tokens"))).toBe("U1");
  expect(await readCode(user.get(`/api/user/${user.userId}/tokens`))).toBe("AU7");
});

test("an administrator disables a token of a user and enables it again, with a row in the audit log", async () => {
  const { root, admin, user } = members;
  const tag = String((await facts(admin)).headers["etag"]);
  expect(await admin.data(setStatus(admin, 2, { "if-match": tag }))).toMatchObject({ status: 2, key_hint: "" });
  expect(await user.data(user.get(`/api/token/${token.id}`))).toMatchObject({ status: 2, key: token.key });
  expect(await readCode(setStatus(admin, 1, { "if-match": tag }))).toBe("G8");
  expect(await admin.data(setStatus(admin, 1))).toMatchObject({ status: 1 });
  expect(await readCode(setStatus(admin, 3))).toBe("CH17");
  expect(await readCode(setStatus(user, 2))).toBe("AU7");
  const rows = await root.data<AuditRow[]>(root.get("/api/audit/?action=tokenOfUserSetStatus"));
  expect(rows.map(({ username, target, old_value, new_value }) => [username, target, old_value, new_value])).toEqual([
    ["boss", `token ${token.id}`, '{"status":2,"disabled_by_admin":1}', '{"status":1,"disabled_by_admin":0}'],
    ["boss", `token ${token.id}`, '{"status":1,"disabled_by_admin":0}', '{"status":2,"disabled_by_admin":1}'],
  ]);
});

test("an administrator replaces the key of a user's token at once, and only the owner reads the new one", async () => {
  const { root, admin, user } = members;
  const leaked = await user.data<Token>(user.post("/api/token/", { name: "leaked", unlimited_quota: true }));
  const replace = (caller: Members["user"], id = leaked.id) => caller.post(`/api/token/${id}/replace`, {});
  const reply = await replace(admin);
  const { key } = await user.data<Token>(user.get(`/api/token/${leaked.id}`));
  expect(reply.body["data"]).toMatchObject({ id: leaked.id, username: "ann", key_hint: "", old_keys_until: 0 });
  expect(key).not.toBe(leaked.key);
  expect(reply.text).not.toContain(key.slice(0, 4));
  const later = await admin.data<TokenFacts>(admin.post(`/api/token/${leaked.id}/replace`, { grace_seconds: 3_600 }));
  expect(later.old_keys_until).toBe(Math.floor(app.clock.now() / 1000) + 3_600);
  expect(await readCode(replace(user))).toBe("AU7");
  const ofRoot = await root.data<Token>(root.post("/api/token/", { name: "helm" }));
  expect(await readCode(replace(admin, ofRoot.id))).toBe("U2");
  expect(await readCode(replace(admin, 999_999))).toBe("K2");
  const rows = await root.data<AuditRow[]>(root.get("/api/audit/?action=tokenOfUserRotate"));
  expect(rows.map(({ username, target }) => [username, target])).toEqual([
    ["boss", `token ${leaked.id}`],
    ["boss", `token ${leaked.id}`],
  ]);
  expect(JSON.stringify(rows)).not.toContain(key);
});

const find = (caller: Members["user"], key: string) => caller.post("/api/token/find", { key });

test("a pasted key finds its token: for administrators that of any user, for users their own", async () => {
  const { root, admin, user } = members;
  const other = await admin.data<Token>(admin.post("/api/token/", { name: "harbour" }));
  for (const pasted of [`sk-${token.key}`, token.key, ` Bearer sk-${token.key}\n`, `sk-${token.key}-12`]) {
    for (const caller of [user, admin, root])
      expect(await caller.data(find(caller, pasted))).toMatchObject({ id: token.id, username: "ann" });
  }
  const reply = await find(admin, token.key);
  expect(JSON.stringify(reply.body), "no part of the key comes back").not.toContain(token.key.slice(0, 4));
  expect(reply.headers["etag"]).toBe((await facts(admin)).headers["etag"]);
  expect(await readRefusal(find(user, other.key))).toEqual(MISSING);
  expect(await readRefusal(find(admin, "sk-of-another-gateway-0123456789"))).toEqual(MISSING);
  expect(await readRefusal(find(admin, token.key.slice(0, 47)))).toEqual(MISSING);
  const ofRoot = await root.data<Token>(root.post("/api/token/", { name: "bridge" }));
  expect(await readCode(find(admin, ofRoot.key))).toBe("U2");
  expect((await app.anonymous().post("/api/token/find", { key: token.key })).status).toBe(401);
});

test("a key that an import carried over by its SHA-256 is found too", async () => {
  const { admin, user } = members;
  const carried = await user.data<Token>(user.post("/api/token/", { name: "carried" }));
  const key_hash = app.vault.hashKey(importedKey("sk-litellm-1234567890abcdef"));
  await app.database.db.updateTable("tokens").set({ key_hash }).where("id", "=", carried.id).execute();
  expect(await admin.data(find(admin, "sk-litellm-1234567890abcdef"))).toMatchObject({ id: carried.id });
});

test("a search by a key leaves no row in the audit log", async () => {
  await app.database.db.deleteFrom("audit_log").execute();
  await find(members.admin, `sk-${token.key}`);
  expect(await app.database.db.selectFrom("audit_log").selectAll().execute()).toEqual([]);
});

test("shows from which addresses a token was used, for which models and for how much", async () => {
  const { admin, user } = members;
  const { id, user_id } = await user.data<Token>(user.post("/api/token/", { name: "leaked" }));
  const at = Math.floor(app.clock.now() / 1000) - 600;
  const call = (row: object) => ({ user_id, username: "ann", token_id: id, token_name: "leaked", quota: 3, ...row });
  await insertLogs(app.database, [
    call({ created_at: at, model_name: "small", ip: "192.0.2.1" }),
    call({ created_at: at + 1, model_name: "small", ip: "198.51.100.7" }),
    call({ created_at: at + 2, model_name: "large", ip: "198.51.100.7", quota: 90 }),
    call({ created_at: at + 3, model_name: "large", ip: "198.51.100.7", quota: 0, type: 5 }),
    call({ created_at: at + 4, model_name: "small", ip: "203.0.113.1", token_id: token.id }),
    call({ created_at: at + 5, model_name: "", ip: "203.0.113.2", type: 3 }),
  ]);
  const read = (caller: Members["user"], query = "") => caller.get(`/api/token/${id}/activity?${query}`);
  for (const caller of [admin, user])
    expect(await caller.data(read(caller))).toEqual({
      complete: true,
      address_count: 2,
      addresses: [
        { ip: "198.51.100.7", calls: 3, errors: 1, quota: 93, first: at + 1, last: at + 3 },
        { ip: "192.0.2.1", calls: 1, errors: 0, quota: 3, first: at, last: at },
      ],
      models: [
        { model: "large", calls: 2, errors: 1, quota: 90, last: at + 3 },
        { model: "small", calls: 2, errors: 0, quota: 6, last: at + 1 },
      ],
    });
  const early = await admin.data<TokenActivity>(read(admin, `end_timestamp=${at}`));
  expect(early.addresses.map(({ ip }) => ip)).toEqual(["192.0.2.1"]);
  await members.root.data(members.root.post("/api/user/", { username: "eve", password: "harbour-light-2" }));
  const eve = await app.signIn("eve", "harbour-light-2");
  expect(await readRefusal(read(eve))).toEqual(MISSING);
});

test("a token of a deleted account does not exist", async () => {
  const { root, admin } = members;
  await root.data(root.post("/api/user/", { username: "bea", password: "harbour-light-1" }));
  const bea = await app.signIn("bea", "harbour-light-1");
  const { id } = await bea.data<Token>(bea.post("/api/token/", { name: "gone" }));
  await admin.data(admin.post("/api/user/manage", { id: bea.userId, action: "delete" }));
  expect(await readRefusal(facts(admin, id))).toEqual(MISSING);
  expect(await readCode(admin.get(`/api/user/${bea.userId}/tokens`))).toBe("U1");
});

import { createDatabase } from "@fairway/testkit/databases";
import type { AuditRow, Token, TokenFacts } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";

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

test("a token of a deleted account does not exist", async () => {
  const { root, admin } = members;
  await root.data(root.post("/api/user/", { username: "bea", password: "harbour-light-1" }));
  const bea = await app.signIn("bea", "harbour-light-1");
  const { id } = await bea.data<Token>(bea.post("/api/token/", { name: "gone" }));
  await admin.data(admin.post("/api/user/manage", { id: bea.userId, action: "delete" }));
  expect(await readRefusal(facts(admin, id))).toEqual(MISSING);
  expect(await readCode(admin.get(`/api/user/${bea.userId}/tokens`))).toBe("U1");
});

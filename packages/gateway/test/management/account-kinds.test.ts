import { createDatabase } from "@fairway/testkit/databases";
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountRow } from "../../src/identity/accounts/accounts.ts";
import { insertRow } from "../../src/storage/inserts.ts";
import type { ApiReply } from "../kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";
import { signInMembers, type Members } from "../kit/members.ts";

/**
 * A wallet of a team is a row of `users`, which no call about persons may find. Every call that reads is asked before
 * and after there are wallets; one of them is called like a person.
 */

let app: ManagementApp;
let members: Members;
let walletId: number;
const before = new Map<string, string>();

const READS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" &&
    value !== null &&
    "access" in value &&
    "method" in value &&
    (value as wire.Endpoint).method === "GET" &&
    !(value as wire.Endpoint).path.includes("{") &&
    (value as wire.Endpoint).answer === "envelope",
);

/** Calls whose answer differs from one moment to the next, or that change something. */
const MOVING =
  /^(userToken|oauthState|systemReplicas|systemStatus|status|statusTest|channelTestAll|channelHealth|auditList|selfLogout|logout)$/;

const QUERIES = ["", "?keyword=urs", "?keyword=research&q=research", "?q=urs", "?username=ursula&start_timestamp=1"];

async function readAll(): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const { name, path, access, hasEffects } of READS) {
    if (MOVING.test(name) || hasEffects || access === "key") continue;
    for (const role of ["root", "admin", "user"] as const) {
      for (const query of QUERIES) answers.set(`${role} ${path}${query}`, (await members[role].get(path + query)).text);
    }
  }
  return answers;
}

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  const { db } = app.database;
  await insertRow(
    db,
    "users",
    accountRow({ username: "ursula", passwordHash: "x", createdAt: 1, email: "u@x.example" }),
  );
  for (const [path, text] of await readAll()) before.set(path, text);
  for (const [name, slug] of [
    ["Research", "research"],
    ["ursula", "ursula"],
  ] as const) {
    const row = accountRow({
      username: name,
      passwordHash: await app.identity.passwords.hash("a good password"),
      createdAt: 2,
    });
    walletId = await insertRow(db, "users", {
      ...row,
      kind: 1,
      username_key: `team:${slug}`,
      quota: 777,
      aff_code: slug,
    });
  }
}, 60_000);
afterAll(() => app.close());

test("every call that reads answers as without wallets", async () => {
  const after = await readAll();
  expect(after.size).toBeGreaterThan(100);
  for (const [path, text] of after) expect([path, text]).toEqual([path, before.get(path)]);
});

describe("a wallet is not found", () => {
  const MISSING = 987_654;
  const without = (reply: ApiReply, id: number) => reply.text.replaceAll(String(id), "ID");

  test.each<[string, (id: number) => Promise<ApiReply>]>([
    ["read", (id) => members.root.get(`/api/user/${id}`)],
    ["tokens", (id) => members.root.get(`/api/user/${id}/tokens`)],
    ["edited", (id) => members.root.put("/api/user/", { id, display_name: "x" })],
    ["deleted", (id) => members.root.delete(`/api/user/${id}`)],
    ["second factor", (id) => members.root.delete(`/api/user/${id}/two_factor`)],
    ["passkeys", (id) => members.root.delete(`/api/user/${id}/reset_passkey`)],
    ["topped up", (id) => members.root.post("/api/topup", { user_id: id, quota: 1 })],
  ])("%s", async (_name, call) => {
    expect(without(await call(walletId), walletId)).toBe(without(await call(MISSING), MISSING));
  });

  test("by its name, its key or its invitation code", async () => {
    for (const username of ["Research", "team:research", "research"]) {
      const sign = await app.anonymous().post("/api/user/login", { username, password: "a good password" });
      expect(sign.body).toMatchObject({ success: false, code: "L3" });
    }
    const manage = await members.root.post("/api/user/manage", { username: "team:research", action: "disable" });
    expect(manage.body["success"]).toBe(false);
    await app
      .anonymous()
      .post("/api/user/register", { username: "invited", password: "a good password", aff_code: "research" });
    const wallets = await app.database.raw.rows("select aff_count, quota, status from users where kind = 1", []);
    expect(wallets).toEqual([
      { aff_count: 0, quota: 777, status: 1 },
      { aff_count: 0, quota: 777, status: 1 },
    ]);
  });
});

test("names of new users contain no colon, so that none is taken for a wallet", async () => {
  const made = await members.root.post("/api/user/", { username: "team:x", password: "a good password" });
  expect(made.body).toMatchObject({ success: false, code: "R9" });
});

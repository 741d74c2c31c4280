import { createDatabase } from "@fairway/testkit/databases";
import type { AuditRow, Token } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";
import { documentCalls, tokenDocument } from "../declarative/documents-kit.ts";

let app: ManagementApp;
let members: Members;
let token: Token;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  const { user } = members;
  token = await user.data<Token>(user.post("/api/token/", { name: "build-bot", unlimited_quota: true }));
});

const REFUSED = [200, "K9", "An administrator disabled this token. Ask an administrator to enable it."];
const asOwner = (status: number, who = members.user, id = token.id) =>
  who.put("/api/token/?status_only=true", { id, status });
const asAdmin = (status: number, who = members.admin, id = token.id) => who.put(`/api/token/${id}/status`, { status });
const read = () => members.user.data<Token>(members.user.get(`/api/token/${token.id}`));

test("the owner cannot enable what an administrator disabled, and leaves no row in the audit log", async () => {
  const { admin, user, root } = members;
  expect(await admin.data(asAdmin(2))).toMatchObject({ status: 2, disabled_by_admin: true });
  expect(await readRefusal(asOwner(1))).toEqual(REFUSED);
  // Disabling it again does not make the owner responsible.
  expect(await user.data(asOwner(2))).toMatchObject({ status: 2, disabled_by_admin: true });
  expect(await readRefusal(asOwner(1))).toEqual(REFUSED);
  expect(await readRefusal(user.put("/api/token/", { ...token, status: 1 }))).toEqual(REFUSED);
  expect(await user.data(user.put("/api/token/", { ...token, status: 2, name: "renamed" }))).toMatchObject({
    name: "renamed",
    status: 2,
    disabled_by_admin: true,
  });
  const rows = await root.data<AuditRow[]>(root.get(`/api/audit/?target=token%20${token.id}&page_size=100`));
  const enabled = rows.filter(({ action, target }) => action === "tokenSetStatus" && target === `token ${token.id}`);
  expect(enabled.every(({ new_value }) => !new_value?.includes('"status":1'))).toBe(true);
  expect(await admin.data(asAdmin(1))).toMatchObject({ status: 1, disabled_by_admin: false });
  expect(await user.data(asOwner(2))).toMatchObject({ status: 2, disabled_by_admin: false });
  expect(await user.data(asOwner(1))).toMatchObject({ status: 1 });
});

test("an administrator's disable takes the place of the owner's", async () => {
  await members.user.data(asOwner(2));
  expect(await members.admin.data(asAdmin(2))).toMatchObject({ disabled_by_admin: true });
  expect(await readRefusal(asOwner(1))).toEqual(REFUSED);
});

test("an administrator is an owner too; the super administrator is bound by no other", async () => {
  const { admin, root } = members;
  const { id } = await admin.data<Token>(admin.post("/api/token/", { name: "pier" }));
  await root.data(asAdmin(2, root, id));
  expect(await readRefusal(asOwner(1, admin, id))).toEqual(REFUSED);
  expect(await readRefusal(asAdmin(1, admin, id))).toEqual(REFUSED);
  expect(await root.data(asAdmin(1, root, id))).toMatchObject({ status: 1, disabled_by_admin: false });
  const own = await root.data<Token>(root.post("/api/token/", { name: "quay" }));
  await root.data(asAdmin(2, root, own.id));
  expect(await root.data(asOwner(1, root, own.id))).toMatchObject({ status: 1, disabled_by_admin: false });
});

test("a document that disables a token holds against its owner, also where the owner disabled it before", async () => {
  const { root } = members;
  const calls = documentCalls(root);
  const named = { displayName: "documented" };
  await calls.apply([tokenDocument("documented", named)]);
  const [made] = await members.user.data<Token[]>(members.user.get("/api/token/?keyword=documented"));
  const id = made?.id ?? 0;
  const state = () => members.user.data<Token>(members.user.get(`/api/token/${id}`));
  await members.user.data(asOwner(2, members.user, id));
  await calls.apply([tokenDocument("documented", { ...named, disabled: true })]);
  expect(await state()).toMatchObject({ status: 2, disabled_by_admin: true });
  expect(await readRefusal(asOwner(1, members.user, id))).toEqual(REFUSED);
  expect(
    (await calls.plan([tokenDocument("documented", { ...named, disabled: true })])).map(({ action }) => action),
  ).toEqual(["unchanged"]);
  await calls.apply([tokenDocument("documented", { ...named, disabled: false })]);
  expect(await state()).toMatchObject({ status: 1, disabled_by_admin: false });
});

test("a token that is made disabled by a document is disabled by an administrator", async () => {
  await documentCalls(members.root).apply([tokenDocument("parked", { disabled: true })]);
  const [made] = await members.user.data<Token[]>(members.user.get("/api/token/?keyword=parked"));
  expect(made).toMatchObject({ status: 2, disabled_by_admin: true });
  expect((await read()).disabled_by_admin).toBe(false);
});

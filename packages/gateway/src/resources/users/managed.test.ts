import type { User } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ENTRA_USER, startDirectory, type Directory } from "../../../test/kit/directory.ts";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";

// Accounts that the directory of a company manages.

let directory: Directory;
let root: ApiCaller;

beforeAll(async () => {
  directory = await startDirectory();
  ({ root } = directory.company);
});
afterAll(() => directory.company.close());
beforeEach(() => directory.clear());

const MANAGED = { success: false, code: "ID10", message: "Acme manages this account: make the change there." };

/** A person of the directory who has signed in. */
async function enter() {
  await directory.made("POST", "/Users", ENTRA_USER);
  return directory.company.enter({ oid: ENTRA_USER.externalId, name: ENTRA_USER.displayName });
}

test("name and address are read-only for the person, and the refusal names the provider and the field", async () => {
  const { caller } = await enter();
  const self = await caller.data<User>(caller.get("/api/user/self"));
  expect(self.managed_by).toBe("Acme");
  const change = (body: object) => caller.put("/api/user/self", body);
  expect((await change({ display_name: "Other" })).body).toMatchObject({ ...MANAGED, field: "display_name" });
  expect((await change({ username: "other-name" })).body).toMatchObject({ ...MANAGED, field: "username" });
  const bound = await caller.get("/api/oauth/email/bind?email=a@b.example&code=123456");
  expect(bound.body).toMatchObject({ ...MANAGED, field: "email" });
  const { username, display_name } = self;
  expect((await change({ username, display_name })).body["success"]).toBe(true);
});

test("administrators change the rest, and may disable but not bring back who has left", async () => {
  const { user } = await enter();
  const path = `/api/user/${user.id}`;
  const shown = await root.data<User>(root.get(path));
  expect(shown.managed_by).toBe("Acme");
  const change = (body: object) => root.put("/api/user/", { id: user.id, ...body });
  expect((await change({ display_name: "Other" })).body).toMatchObject({ ...MANAGED, field: "display_name" });
  expect((await change({ display_name: shown.display_name, group: "vip" })).body["success"]).toBe(true);
  const manage = (action: string) => root.post("/api/user/manage", { username: shown.username, action });
  expect((await manage("disable")).body["success"]).toBe(true);
  expect((await manage("enable")).body["success"]).toBe(true);
  const { Resources } = (await directory.scim("GET", "/Users")).body as { Resources: { id: string }[] };
  const active = { op: "replace", path: "active", value: false };
  await directory.patch(Resources[0]?.id ?? "", active);
  expect((await manage("enable")).body).toMatchObject({ ...MANAGED, field: "action" });
});

test("other accounts have no such member and change as before", async () => {
  const self = await root.data<User>(root.get("/api/user/self"));
  expect(self).not.toHaveProperty("managed_by");
  expect((await root.put("/api/user/self", { display_name: "Harbour" })).body["success"]).toBe(true);
});

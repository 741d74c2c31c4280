import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ENTRA_USER, OKTA_USER, startDirectory, type Directory } from "../kit/directory.ts";

const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

describe.each(["sqlite", "mariadb", "postgres"] as const)("companies on %s", (kind) => {
  let directory: Directory;

  beforeAll(async () => {
    directory = await startDirectory(kind);
  });
  afterAll(() => directory.company.close());
  beforeEach(() => directory.clear());

  const rules = [
    { when: { claim: "scim_groups", equals: "Admins" }, role: "admin" },
    { when: { claim: "department", equals: "R&D" }, group: "vip" },
  ];

  test("a person is created by the directory, signs in, gets a role by a group, and is switched off", async () => {
    const { company, made, patch, find, account, scim } = directory;
    await company.setUp({ jit: "off", mapping: rules });
    const { id } = await made("POST", "/Users", ENTRA_USER);
    await made("POST", "/Users", OKTA_USER);
    const { user, caller } = await company.enter({ oid: "oid-ann" });
    expect(user).toMatchObject({ username: "ann", role: 1, group: "vip" });
    const group = await made("POST", "/Groups", { displayName: "Admins", members: [{ value: id }] });
    expect(await account("ann")).toMatchObject({ role: 10 });
    expect((await find(`members.value eq "${id}"`, "Groups")).Resources).toMatchObject([{ id: group.id }]);
    expect((await find('displayName co "LEE" and active eq true')).Resources).toMatchObject([{ id }]);
    expect((await made("GET", "/Users?startIndex=2&count=1"))["totalResults"]).toBe(2);
    const Operations = [{ op: "remove", path: `members[value eq "${id}"]` }];
    await made("PATCH", `/Groups/${group.id}`, { schemas: [PATCH], Operations });
    expect(await account("ann")).toMatchObject({ role: 1 });
    await patch(id, { op: "Replace", path: "active", value: "False" });
    expect(await account("ann")).toMatchObject({ status: 2 });
    expect((await caller.get("/api/user/self")).body["success"]).toBe(false);
    expect((await scim("POST", "/Users", { ...OKTA_USER, userName: "ANN@acme.example" })).status).toBe(409);
    expect((await scim("DELETE", `/Users/${id}`)).status).toBe(204);
  });

  test("texts that are no id name nothing", async () => {
    const { scim, find, made } = directory;
    const odd = "ä€";
    for (const kind of ["Users", "Groups"]) {
      expect((await scim("GET", `/${kind}/${encodeURIComponent(odd)}`)).status).toBe(404);
      expect((await find(`id eq "${odd}"`, kind)).totalResults).toBe(0);
    }
    expect((await find(`members.value eq "${odd}"`, "Groups")).totalResults).toBe(0);
    expect((await scim("POST", "/Groups", { displayName: "Odd", members: [{ value: odd }] })).status).toBe(400);
    const group = await made("POST", "/Groups", { displayName: odd });
    const Operations = [{ op: "remove", path: `members[value eq "${odd}"]` }];
    expect((await scim("PATCH", `/Groups/${group.id}`, { schemas: [PATCH], Operations })).status).toBe(200);
  });

  test("an account is joined once, the provider becomes the only way in, and the person signs out there", async () => {
    const { company } = directory;
    const { db } = company.app.database;
    await company.setUp({ jit: "link" });
    const first = await company.enter({ email: "ann@acme.example", email_verified: true, preferred_username: "ann" });
    company.oidc.person = { sub: "subject-2", email: "ann@acme.example", email_verified: true };
    expect((await company.signIn()).reply.body).toMatchObject({ success: false, code: "ID5" });
    await company.setUp({ enforced: true });
    const rows = () => db.selectFrom("sessions").select("id_hash").where("user_id", "=", first.user.id).execute();
    expect(await rows()).toHaveLength(1);
    const { id } = company.provider;
    expect(await company.app.identity.sessions.endOfProvider(id, { subject: "subject-1", sid: "" })).toBe(1);
    expect(await rows()).toEqual([]);
    const links = company.root.get(`/api/identity_provider/${id}/identities`);
    expect(await company.root.data(links)).toMatchObject([{ username: "ann", subject: "subject-1" }]);
  });
});

import type { MappingRule } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Company } from "../../../test/kit/company.ts";
import { ENTRA_USER, OKTA_USER, startDirectory, type Directory, type Resource } from "../../../test/kit/directory.ts";

let directory: Directory;
let company: Company;

const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

beforeAll(async () => {
  directory = await startDirectory();
  company = directory.company;
});
afterAll(() => company.close());
beforeEach(() => directory.clear());

const scim: Directory["scim"] = (...sent) => directory.scim(...sent);
const made: Directory["made"] = (...sent) => directory.made(...sent);
const find: Directory["find"] = (...sent) => directory.find(...sent);
const account: Directory["account"] = (...sent) => directory.account(...sent);

describe("groups", () => {
  const mapping: MappingRule[] = [
    { when: { claim: "scim_groups", equals: "Gateway admins" }, role: "admin" },
    { when: { claim: "department", equals: "R&D" }, group: "vip" },
  ];

  async function makeGroup(members: readonly string[] = []): Promise<Resource> {
    const list = members.map((value) => ({ value }));
    return made("POST", "/Groups", {
      schemas: [GROUP],
      displayName: "Gateway admins",
      externalId: "g1",
      members: list,
    });
  }
  const patchGroup = (id: string, ...Operations: readonly unknown[]) =>
    made("PATCH", `/Groups/${id}`, { schemas: [PATCH], Operations });

  test("give roles by rules at once, and take them back", async () => {
    await company.setUp({ mapping });
    const { id } = await made("POST", "/Users", ENTRA_USER);
    await company.enter({ oid: "oid-ann" });
    expect(await account("ann")).toMatchObject({ role: 1, group: "vip" });
    const group = await makeGroup();
    await patchGroup(group.id, { op: "Add", path: "members", value: [{ value: id }] });
    expect(await account("ann")).toMatchObject({ role: 10 });
    expect(await made("GET", `/Users/${id}`)).toMatchObject({
      groups: [{ value: group.id, display: "Gateway admins" }],
    });
    expect((await company.enter({ oid: "oid-ann" })).user.role).toBe(10);
    await patchGroup(group.id, { op: "Replace", path: "displayName", value: "Others" });
    expect(await account("ann")).toMatchObject({ role: 1 });
    await patchGroup(group.id, { op: "Replace", path: "displayName", value: "Gateway admins" });
    expect(await account("ann")).toMatchObject({ role: 10 });
    expect((await scim("DELETE", `/Groups/${group.id}`)).status).toBe(204);
    expect(await account("ann")).toMatchObject({ role: 1 });
  });

  test.each([
    ["Entra, with a value", (id: string) => ({ op: "Remove", path: "members", value: [{ value: id }] })],
    ["Okta, with a condition", (id: string) => ({ op: "remove", path: `members[value eq "${id}"]` })],
    ["all of them", () => ({ op: "remove", path: "members" })],
    ["with an empty list", () => ({ op: "replace", path: "members", value: [] })],
  ])("lose members: %s", async (_what, operation) => {
    const { id } = await made("POST", "/Users", ENTRA_USER);
    const group = await makeGroup([id]);
    expect(group["members"]).toMatchObject([{ value: id }]);
    expect((await patchGroup(group.id, operation(id)))["members"]).toEqual([]);
    expect((await patchGroup(group.id, operation(id)))["members"]).toEqual([]);
  });

  test("are found by name and member, as Entra asks, and shown without members", async () => {
    const { id } = await made("POST", "/Users", ENTRA_USER);
    const group = await makeGroup([id]);
    expect((await find('displayName eq "gateway ADMINS"', "Groups")).Resources).toMatchObject([{ id: group.id }]);
    expect((await find(`id eq "${group.id}" and members eq "${id}"`, "Groups")).totalResults).toBe(1);
    expect((await find(`members.value eq "other"`, "Groups")).totalResults).toBe(0);
    const short = await made("GET", `/Groups/${group.id}?excludedAttributes=members`);
    expect(short).not.toHaveProperty("members");
  });

  test("take only people of the directory", async () => {
    const reply = await scim("POST", "/Groups", { displayName: "X", members: [{ value: "stranger" }] });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ scimType: "invalidValue" });
    expect(await made("GET", "/Groups")).toMatchObject({ totalResults: 0 });
  });
});

describe("filters", () => {
  beforeEach(async () => {
    await made("POST", "/Users", ENTRA_USER);
    await made("POST", "/Users", { ...OKTA_USER, active: false });
  });

  test.each([
    ['userName eq "ANN@ACME.EXAMPLE"', 1],
    ['externalId eq "oid-ann"', 1],
    ['externalId eq "OID-ANN"', 0],
    ["active eq true", 1],
    ["active eq False", 1],
    ['displayName co "ray"', 1],
    ['displayName sw "ann" or displayName ew "RAY"', 2],
    ['not (displayName sw "ann")', 1],
    ['emails.value eq "bob@acme.example"', 1],
    ['emails[type eq "work"].value eq "bob@acme.example"', 1],
    ['emails[type eq "home"].value eq "bob@acme.example"', -1],
    ['userName eq "ann@acme.example" and active eq true', 1],
    ['userName eq "ann@acme.example" and active eq false', 0],
    ['(userName sw "a" or userName sw "b") and externalId pr', 2],
    ['userName ne "ann@acme.example"', 1],
    ['userName eq "7b0c3c8e-random"', 0],
    ['userName eq "a\\" or \\"1\\" eq \\"1"', 0],
    [`userName eq "' or 1=1 --"`, 0],
    [`userName eq "%"`, 0],
    [`displayName co "%"`, 0],
    [`displayName co "_"`, 0],
    [`id eq "' union select password from users --"`, 0],
  ])("%s", async (filter, total) => {
    if (total >= 0) return expect((await find(filter)).totalResults).toBe(total);
    expect((await scim("GET", `/Users?filter=${encodeURIComponent(filter)}`)).body).toMatchObject({
      scimType: "invalidFilter",
    });
  });

  // @weakness Injection and parsing: A filter of a directory reaches columns or statements that it does not name
  test.each([
    'password eq "x"',
    'userId eq "1"',
    'constructor eq "x"',
    "__proto__ pr",
    "userName eq",
    'userName eq "x',
    'userName like "x"',
    'userName gt "x"',
    "userName eq x; drop table users",
    'userName eq "x" and',
    '(userName eq "x"',
    'userName eq "x")',
    "eq eq eq",
    'emails[type eq "work"',
    'not userName eq "x"',
    `${"(".repeat(500)}userName pr${")".repeat(500)}`,
    `userName eq "${"x".repeat(3000)}"`,
    '"userName" eq "x"',
  ])("%s is refused", async (filter) => {
    const reply = await scim("GET", `/Users?filter=${encodeURIComponent(filter)}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ scimType: "invalidFilter" });
    expect(await account("ann")).toBeDefined();
  });

  test("pages count from 1, and a count of 0 only counts", async () => {
    const page = async (query: string) => {
      const { totalResults, Resources } = (await made("GET", `/Users?${query}`)) as unknown as {
        readonly totalResults: number;
        readonly Resources: readonly Resource[];
      };
      return [totalResults, Resources.length];
    };
    expect(await page("startIndex=1&count=1")).toEqual([2, 1]);
    expect(await page("startIndex=2&count=5")).toEqual([2, 1]);
    expect(await page("count=0")).toEqual([2, 0]);
    expect(await page("startIndex=-4&count=1000")).toEqual([2, 2]);
    expect(await page(`startIndex=2&count=5&filter=${encodeURIComponent("userName pr")}`)).toEqual([2, 1]);
  });
});

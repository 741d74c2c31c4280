import type { DatabaseKind } from "@fairway/testkit/databases";
import type { ApiReply } from "./api-caller.ts";
import { startCompany, type Company } from "./company.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const BASE = "/scim/v2/acme";

/** What Microsoft Entra sends for a new person, with its default attribute mappings. */
export const ENTRA_USER = {
  schemas: [USER, ENTERPRISE],
  externalId: "oid-ann",
  userName: "ann@acme.example",
  active: true,
  addresses: [{ primary: false, type: "work", country: "DE", formatted: "Main Street 1" }],
  displayName: "Ann Lee",
  emails: [{ primary: true, type: "work", value: "ann@acme.example" }],
  meta: { resourceType: "User" },
  name: { familyName: "Lee", givenName: "Ann", formatted: "Ann Lee" },
  phoneNumbers: [{ primary: false, type: "work", value: "+49 1" }],
  preferredLanguage: "en",
  title: "Engineer",
  [ENTERPRISE]: { employeeNumber: "7", department: "R&D", costCenter: "4711" },
};

/** What Okta sends for a new person from its template for SCIM 2.0. */
export const OKTA_USER = {
  schemas: [USER],
  userName: "bob@acme.example",
  name: { givenName: "Bob", familyName: "Ray" },
  emails: [{ primary: true, value: "bob@acme.example", type: "work" }],
  displayName: "Bob Ray",
  locale: "en-US",
  externalId: "00u1",
  groups: [],
  password: "1mz050nq",
  active: true,
};

export interface Resource extends Record<string, unknown> {
  readonly id: string;
}

export interface ResourceList {
  readonly totalResults: number;
  readonly Resources: readonly Resource[];
}

/** The directory of a company, with a token for its calls. */
export interface Directory {
  readonly company: Company;
  /** The token of the calls; tests replace it. */
  token: string;
  makeToken(): Promise<string>;
  /** Removes what directories have made. */
  clear(): Promise<void>;
  scim(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiReply>;
  /** A call that must succeed. */
  made(method: string, path: string, body?: unknown): Promise<Resource>;
  patch(id: string, ...operations: readonly unknown[]): Promise<Resource>;
  find(filter: string, kind?: string): Promise<ResourceList>;
  account(username: string): Promise<{ readonly email: string | null } | undefined>;
}

export async function startDirectory(database?: DatabaseKind): Promise<Directory> {
  const company = await startCompany(database);
  const { db } = company.app.database;
  const caller = company.app.anonymous();
  const path = `/api/identity_provider/${company.provider.id}/scim_token`;
  const directory: Directory = {
    company,
    token: "",
    makeToken: async () => (await company.root.data<{ token: string }>(company.root.post(path, {}))).token,
    async clear() {
      for (const table of ["scim_members", "scim_groups", "scim_users", "user_identities", "events"] as const)
        await db.deleteFrom(table).execute();
      await db.deleteFrom("users").where("username", "!=", "root").execute();
      await company.setUp();
    },
    scim(method, at, body, more = {}) {
      const type = body === undefined ? {} : { "content-type": "application/scim+json" };
      const headers = { authorization: `Bearer ${directory.token}`, ...type, ...more };
      return caller.call(method, `${BASE}${at}`, { headers, ...(body !== undefined && { body }) });
    },
    async made(method, at, body) {
      const reply = await directory.scim(method, at, body);
      if (reply.status >= 300) throw new Error(`${method} ${at}: ${reply.status} ${reply.text}`);
      return reply.body as Resource;
    },
    patch: (id, ...Operations) => directory.made("PATCH", `/Users/${id}`, { schemas: [PATCH], Operations }),
    find: async (filter, kind = "Users") =>
      (await directory.made("GET", `/${kind}?filter=${encodeURIComponent(filter)}`)) as unknown as ResourceList,
    account: (username) => db.selectFrom("users").selectAll().where("username", "=", username).executeTakeFirst(),
  };
  directory.token = await directory.makeToken();
  return directory;
}

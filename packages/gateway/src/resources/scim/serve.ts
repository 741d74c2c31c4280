import type { Provider } from "../../identity/providers/provider.ts";
import { readUser, patchUser } from "../../identity/scim/change-user.ts";
import { checkFilter, parseFilter, type Attributes } from "../../identity/scim/filter.ts";
import { GROUP_ATTRIBUTES, patchGroup, readGroup, toGroupResource, type ScimGroup } from "../../identity/scim/group.ts";
import { readPatch } from "../../identity/scim/patch.ts";
import { describeServer, listResourceTypes, listSchemas } from "../../identity/scim/schemas.ts";
import { ScimError } from "../../identity/scim/scim-error.ts";
import { buildVersion, toUserResource, USER_ATTRIBUTES, type ScimUser } from "../../identity/scim/user.ts";
import type { BindingDeps } from "../auth/bindings.ts";
import { createGroup, removeGroup, requireGroup, updateGroup } from "./groups.ts";
import {
  findGroup,
  findUser,
  listGroups,
  listGroupsWithMember,
  listUsers,
  type ListQuery,
} from "../../identity/scim/store.ts";
import { createUser, removeUser, requireUser, updateUser } from "./users.ts";

export interface ScimCall {
  readonly provider: Provider;
  readonly method: string;
  /** First part of the path behind the provider. */
  readonly resource: string;
  /** The rest of the path; "" = none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly ifMatch: string | undefined;
  /** Address of the provider's resources. */
  readonly base: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ScimAnswer {
  readonly status: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly location?: string;
  readonly version?: string;
}

const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const MAX_COUNT = 200;
const DEFAULT_COUNT = 100;
const NOT_SERVED: ReadonlySet<string> = new Set(["Bulk", "Me", ".search"]);

export async function serveScim(deps: BindingDeps, call: ScimCall): Promise<ScimAnswer> {
  const { resource, id } = call;
  if (NOT_SERVED.has(resource) || NOT_SERVED.has(id)) throw new ScimError(501, "This call is not served.");
  switch (resource) {
    case "Users":
      return serveUsers(deps, call);
    case "Groups":
      return serveGroups(deps, call);
    case "ServiceProviderConfig":
    case "ResourceTypes":
    case "Schemas":
      return describe(call);
    default:
      throw new ScimError(404, "There is no such resource.");
  }
}

function describe({ method, resource, id, base }: ScimCall): ScimAnswer {
  if (method !== "GET") throw notAllowed(method);
  if (resource === "ServiceProviderConfig") return { status: 200, body: describeServer(base) };
  const all = resource === "Schemas" ? listSchemas(base) : listResourceTypes(base);
  if (id === "") return { status: 200, body: buildList([...all], { total: all.length, startIndex: 1 }) };
  const one = all.find((each) => each.id === id);
  if (!one) throw new ScimError(404, "There is no such resource.");
  return { status: 200, body: { ...one } };
}

function notAllowed(method: string): ScimError {
  return new ScimError(405, `The method ${method} is not served here.`);
}

function buildList(
  resources: readonly object[],
  { total, startIndex }: { readonly total: number; readonly startIndex: number },
): Readonly<Record<string, unknown>> {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

function readQuery<T>(query: URLSearchParams, attributes: Attributes<T>): ListQuery {
  const text = query.get("filter") ?? "";
  const filter = text.trim() === "" ? undefined : parseFilter(text);
  if (filter) checkFilter(filter, attributes);
  const startIndex = Math.max(1, readNumber(query.get("startIndex"), 1));
  const count = Math.min(MAX_COUNT, Math.max(0, readNumber(query.get("count"), DEFAULT_COUNT)));
  return { filter, startIndex, count };
}

function readNumber(text: string | null, fallback: number): number {
  return text !== null && /^-?\d{1,9}$/.test(text) ? Number(text) : fallback;
}

async function serveUsers(deps: BindingDeps, call: ScimCall): Promise<ScimAnswer> {
  const { provider, method, id, body, ifMatch } = call;
  const { db } = deps.database;
  switch (`${method}${id === "" ? "" : " one"}`) {
    case "GET": {
      const query = readQuery(call.query, USER_ATTRIBUTES);
      const { resources, total } = await listUsers(db, provider.id, query);
      const shown = await Promise.all(resources.map((user) => showUser(deps, call, user)));
      return { status: 200, body: buildList(shown, { total, startIndex: query.startIndex }) };
    }
    case "POST":
      return answerUser(deps, call, await createUser(deps, provider, readUser(body)), 201);
    case "GET one":
      return answerUser(deps, call, requireUser(await findUser(db, provider.id, id)));
    case "PUT one": {
      const change = () => readUser(body);
      return answerUser(deps, call, await updateUser(deps, provider, { id, change, ifMatch }));
    }
    case "PATCH one": {
      const operations = readPatch(body);
      const change = (user: ScimUser) => patchUser(user, operations);
      return answerUser(deps, call, await updateUser(deps, provider, { id, change, ifMatch }));
    }
    case "DELETE one":
      await removeUser(deps, provider, id, ifMatch);
      return { status: 204 };
    default:
      throw notAllowed(method);
  }
}

async function showUser({ database }: BindingDeps, { base }: ScimCall, user: ScimUser) {
  return toUserResource(user, { base, groups: await listGroupsWithMember(database.db, user.id) });
}

async function answerUser(deps: BindingDeps, call: ScimCall, user: ScimUser, status = 200): Promise<ScimAnswer> {
  const location = `${call.base}/Users/${user.id}`;
  return { status, body: await showUser(deps, call, user), location, version: buildVersion(user.version) };
}

async function serveGroups(deps: BindingDeps, call: ScimCall): Promise<ScimAnswer> {
  const { provider, method, id, body, ifMatch } = call;
  const { db } = deps.database;
  switch (`${method}${id === "" ? "" : " one"}`) {
    case "GET": {
      const query = readQuery(call.query, GROUP_ATTRIBUTES);
      const { resources, total } = await listGroups(db, provider.id, query);
      const shown = resources.map((group) => showGroup(call, group));
      return { status: 200, body: buildList(shown, { total, startIndex: query.startIndex }) };
    }
    case "POST":
      return answerGroup(call, await createGroup(deps, provider, readGroup(body)), 201);
    case "GET one":
      return answerGroup(call, requireGroup(await findGroup(db, provider.id, id)));
    case "PUT one": {
      const change = () => readGroup(body);
      return answerGroup(call, await updateGroup(deps, provider, { id, change, ifMatch }));
    }
    case "PATCH one": {
      const operations = readPatch(body);
      const change = (group: ScimGroup) => patchGroup(group, operations);
      return answerGroup(call, await updateGroup(deps, provider, { id, change, ifMatch }));
    }
    case "DELETE one":
      await removeGroup(deps, provider, id, ifMatch);
      return { status: 204 };
    default:
      throw notAllowed(method);
  }
}

function showGroup({ query, base }: ScimCall, group: ScimGroup) {
  const excluded = (query.get("excludedAttributes") ?? "").toLowerCase().split(",");
  return toGroupResource(group, { base, hasMembers: !excluded.some((name) => name.trim() === "members") });
}

function answerGroup(call: ScimCall, group: ScimGroup, status = 200): ScimAnswer {
  const location = `${call.base}/Groups/${group.id}`;
  return { status, body: showGroup(call, group), location, version: buildVersion(group.version) };
}

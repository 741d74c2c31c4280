import { parseFilter, type Attributes } from "./filter.ts";
import { isObject } from "./change-user.ts";
import type { PatchOperation } from "./patch.ts";
import { badRequest } from "./scim-error.ts";
import { buildMeta } from "./user.ts";

export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";

export interface GroupFacts {
  readonly displayName: string;
  /** "" = none. */
  readonly externalId: string;
  /** Ids of users of the same directory. */
  readonly members: ReadonlySet<string>;
}

export interface ScimGroup extends GroupFacts {
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

type Values = Readonly<Record<string, unknown>>;

const MAX_TEXT_CHARS = 255;
const MAX_MEMBERS = 100_000;
const PREFIX = `${GROUP_SCHEMA.toLowerCase()}:`;
const READ_ONLY: ReadonlySet<string> = new Set(["id", "meta"]);

/** The attributes by which groups are found. */
export const GROUP_ATTRIBUTES: Attributes<ScimGroup> = {
  id: { isExact: true, read: ({ id }) => [id] },
  externalid: { isExact: true, read: ({ externalId }) => (externalId === "" ? [] : [externalId]) },
  displayname: { isExact: false, read: ({ displayName }) => [displayName] },
  members: { isExact: true, read: ({ members }) => [...members] },
  "members.value": { isExact: true, read: ({ members }) => [...members] },
};

export function readGroup(body: Values): GroupFacts {
  let facts: GroupFacts = { displayName: "", externalId: "", members: new Set() };
  for (const [name, value] of Object.entries(body)) facts = set(facts, name, value, false);
  return checked(facts);
}

export function patchGroup(group: GroupFacts, operations: readonly PatchOperation[]): GroupFacts {
  return checked(operations.reduce(patchOnce, group));
}

function checked(facts: GroupFacts): GroupFacts {
  if (facts.displayName === "") throw badRequest("invalidValue", "A group needs a displayName.");
  if (facts.members.size > MAX_MEMBERS) throw badRequest("invalidValue", `A group has at most ${MAX_MEMBERS} members.`);
  return facts;
}

function patchOnce(facts: GroupFacts, { op, path, value }: PatchOperation): GroupFacts {
  if (READ_ONLY.has(normalize(path))) throw badRequest("mutability", `The attribute ${path} is read-only.`);
  if (op === "remove") return remove(facts, path, value);
  if (path !== "") return set(facts, path, value, op === "add");
  if (!isObject(value)) throw badRequest("invalidValue", "An operation without a path needs an object as its value.");
  return Object.entries(value).reduce((next, [name, one]) => set(next, name, one, op === "add"), facts);
}

function normalize(path: string): string {
  const name = path.toLowerCase();
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

/** Attributes that are not stored are accepted, because directories send all that they have. */
function set(facts: GroupFacts, path: string, value: unknown, isAdded: boolean): GroupFacts {
  const name = normalize(path);
  if (name === "displayname") return { ...facts, displayName: readText(value) };
  if (name === "externalid") return { ...facts, externalId: readText(value) };
  if (name === "members") {
    const given = readMembers(value);
    return { ...facts, members: new Set(isAdded ? [...facts.members, ...given] : given) };
  }
  return facts;
}

/** Removes members by a list of values or by a condition; what is not there is removed already. */
function remove(facts: GroupFacts, path: string, value: unknown): GroupFacts {
  const name = normalize(path);
  if (name === "") throw badRequest("invalidPath", "An operation that removes needs a path.");
  if (name === "externalid") return { ...facts, externalId: "" };
  if (name === "members") {
    const gone = new Set(value === undefined ? facts.members : readMembers(value));
    return { ...facts, members: new Set([...facts.members].filter((one) => !gone.has(one))) };
  }
  const condition = /^members\[([^\]]*)\]$/i.exec(path)?.[1];
  if (condition === undefined)
    throw badRequest("invalidPath", `The path ${path.slice(0, MAX_TEXT_CHARS)} cannot be removed.`);
  const filter = parseFilter(condition);
  if (filter.kind !== "compare" || filter.comparison !== "eq" || filter.path !== "value")
    throw badRequest("invalidPath", "Members are chosen by value.");
  return { ...facts, members: new Set([...facts.members].filter((one) => one !== filter.value)) };
}

function readMembers(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one) => {
    const id = isObject(one) ? one["value"] : one;
    if (typeof id !== "string" || id === "" || id.length > MAX_TEXT_CHARS)
      throw badRequest("invalidValue", "A member needs the id of a user as its value.");
    return id;
  });
}

function readText(value: unknown): string {
  if (typeof value !== "string") throw badRequest("invalidValue", "The name of a group must be a text.");
  const text = value.trim();
  if (text.length > MAX_TEXT_CHARS)
    throw badRequest("invalidValue", `The name of a group has at most ${MAX_TEXT_CHARS} characters.`);
  return text;
}

export function toGroupResource(
  group: ScimGroup,
  { base, hasMembers }: { readonly base: string; readonly hasMembers: boolean },
): Readonly<Record<string, unknown>> {
  const { id, externalId, displayName, members } = group;
  return {
    schemas: [GROUP_SCHEMA],
    id,
    ...(externalId !== "" && { externalId }),
    displayName,
    ...(hasMembers && { members: [...members].map((value) => ({ value, $ref: `${base}/Users/${value}` })) }),
    meta: buildMeta("Group", `${base}/Groups/${id}`, group),
  };
}

import { parseFilter } from "./filter.ts";
import { badRequest } from "./scim-error.ts";
import { ENTERPRISE_SCHEMA, NEW_USER, USER_SCHEMA, type Email, type UserFacts } from "./user.ts";
import type { PatchOperation } from "./patch.ts";

type Values = Readonly<Record<string, unknown>>;

const MAX_TEXT_CHARS = 255;
const MAX_EMAILS = 20;
const CORE_PREFIX = `${USER_SCHEMA.toLowerCase()}:`;
const EXTENSION = ENTERPRISE_SCHEMA.toLowerCase();
const EXTENSION_PREFIX = `${EXTENSION}:`;
const READ_ONLY: ReadonlySet<string> = new Set(["id", "meta", "groups"]);

/** Returns the facts of a whole user, for a creation or a replacement. */
export function readUser(body: Values): UserFacts {
  let facts = NEW_USER;
  for (const [name, value] of Object.entries(body)) facts = setAttribute(facts, name, value, false);
  if (facts.userName === "") throw badRequest("invalidValue", "A user needs a userName.");
  return facts;
}

/** Applies the operations of a PATCH, in their order. */
export function patchUser(user: UserFacts, operations: readonly PatchOperation[]): UserFacts {
  const facts = operations.reduce(patchOnce, user);
  if (facts.userName === "") throw badRequest("invalidValue", "A user needs a userName.");
  return facts;
}

function patchOnce(facts: UserFacts, { op, path, value }: PatchOperation): UserFacts {
  if (path !== "") {
    if (READ_ONLY.has(normalize(path))) throw badRequest("mutability", `The attribute ${path} is read-only.`);
    return op === "remove" ? removeAttribute(facts, path) : setAttribute(facts, path, value, op === "add");
  }
  if (op === "remove") throw badRequest("invalidPath", "An operation that removes needs a path.");
  if (!isObject(value)) throw badRequest("invalidValue", "An operation without a path needs an object as its value.");
  // Microsoft writes paths as names here: "name.givenName".
  return Object.entries(value).reduce((next, [name, one]) => setAttribute(next, name, one, op === "add"), facts);
}

function normalize(path: string): string {
  const name = path.trim().toLowerCase();
  return name.startsWith(CORE_PREFIX) ? name.slice(CORE_PREFIX.length) : name;
}

/** Attributes that are not stored are accepted, because directories send all that they have. */
function setAttribute(facts: UserFacts, path: string, value: unknown, isAdded: boolean): UserFacts {
  const name = normalize(path);
  if (name.startsWith("emails")) return { ...facts, emails: setEmails(facts.emails, path, value, isAdded) };
  if (name === "name" && isObject(value)) return { ...facts, name: { ...facts.name, ...readNames(value) } };
  if (name.startsWith("name."))
    return { ...facts, name: setName(facts.name, path.trim().slice("name.".length), value) };
  if (name === EXTENSION && isObject(value)) {
    return Object.entries(value).reduce((next, [member, one]) => setText(next, member.toLowerCase(), one), facts);
  }
  if (name.startsWith(EXTENSION_PREFIX)) return setText(facts, name.slice(EXTENSION_PREFIX.length), value);
  if (name === "active") return { ...facts, active: readBoolean(value) };
  return setText(facts, name, value);
}

const TEXTS: Readonly<Record<string, "userName" | "externalId" | "displayName" | "department" | "costCenter">> = {
  username: "userName",
  externalid: "externalId",
  displayname: "displayName",
  department: "department",
  costcenter: "costCenter",
};

function setText(facts: UserFacts, name: string, value: unknown): UserFacts {
  const member = Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined;
  return member === undefined ? facts : { ...facts, [member]: readText(value, member) };
}

function removeAttribute(facts: UserFacts, path: string): UserFacts {
  const name = normalize(path);
  if (name.startsWith("emails")) {
    const matches = readEmailPath(path).matches;
    return { ...facts, emails: facts.emails.filter((one) => !matches(one)) };
  }
  if (name === "name") return { ...facts, name: {} };
  if (name.startsWith("name.")) return { ...facts, name: setName(facts.name, path.trim().slice("name.".length), "") };
  if (name === "active") throw badRequest("invalidValue", "The attribute active cannot be removed.");
  return setText(facts, name.startsWith(EXTENSION_PREFIX) ? name.slice(EXTENSION_PREFIX.length) : name, "");
}

function readNames(value: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).map(([member, one]) => [findNameMember(member), readText(one, member)]),
  );
}

function setName(name: UserFacts["name"], member: string, value: unknown): UserFacts["name"] {
  const key = findNameMember(member);
  const { [key]: _old, ...rest } = name;
  const text = readText(value, member);
  return text === "" ? rest : { ...rest, [key]: text };
}

const NAME_MEMBERS = ["formatted", "familyName", "givenName", "middleName", "honorificPrefix", "honorificSuffix"];

function findNameMember(member: string): string {
  const found = NAME_MEMBERS.find((one) => one.toLowerCase() === member.toLowerCase());
  if (found === undefined) throw badRequest("invalidPath", `A name has no member ${member.slice(0, MAX_TEXT_CHARS)}.`);
  return found;
}

interface EmailPath {
  /** The type that a new entry gets. */
  readonly type: string;
  readonly matches: (email: Email) => boolean;
}

/** Reads `emails`, `emails.value`, `emails[type eq "work"]` and `emails[type eq "work"].value`. */
function readEmailPath(path: string): EmailPath {
  const found = /^emails(?:\[(?<condition>[^\]]*)\])?(?:\.value)?$/i.exec(
    path.trim().replace(/^urn:[^[]*:(?=emails)/i, ""),
  );
  if (!found) throw badRequest("invalidPath", `The path ${path.slice(0, MAX_TEXT_CHARS)} is not supported.`);
  const condition = found.groups?.["condition"];
  if (condition === undefined) return { type: "work", matches: () => true };
  const filter = parseFilter(condition);
  if (filter.kind !== "compare" || filter.comparison !== "eq" || !["type", "value", "primary"].includes(filter.path))
    throw badRequest("invalidPath", "E-mails are chosen by type, value or primary.");
  const wanted = String(filter.value).toLowerCase();
  const member = filter.path as keyof Email;
  return {
    type: member === "type" ? wanted : "work",
    matches: (email) => String(email[member]).toLowerCase() === wanted,
  };
}

function setEmails(emails: readonly Email[], path: string, value: unknown, isAdded: boolean): readonly Email[] {
  const { type, matches } = readEmailPath(path);
  const isWhole = /emails$/i.test(path.trim());
  if (isWhole) {
    const given = (Array.isArray(value) ? value : [value]).map((one: unknown) => readEmail(one, type));
    const others = isAdded ? emails.filter((old) => !given.some((one) => one.value === old.value)) : [];
    return limit([...others, ...given].filter((one) => one.value !== ""));
  }
  const given = readEmail(value, type);
  const changed = emails.map((one) => (matches(one) ? { ...one, value: given.value } : one));
  // What is to be replaced may not be there yet: Microsoft expects it to be made.
  const next = emails.some(matches) ? changed : [...emails, given];
  return limit(next.filter((one) => one.value !== ""));
}

function limit(emails: readonly Email[]): readonly Email[] {
  if (emails.length > MAX_EMAILS) throw badRequest("invalidValue", `A user has at most ${MAX_EMAILS} e-mails.`);
  return emails;
}

function readEmail(value: unknown, type: string): Email {
  if (!isObject(value)) return { value: readText(value, "emails"), type, primary: false };
  return {
    value: readText(value["value"] ?? "", "emails.value"),
    type: readText(value["type"] ?? type, "emails.type"),
    primary: value["primary"] === undefined ? false : readBoolean(value["primary"]),
  };
}

function readText(value: unknown, name: string): string {
  // A list with one entry is what some directories send for a plain attribute.
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const text = isObject(one) ? one["value"] : one;
  if (text === undefined || text === null) return "";
  if (typeof text !== "string" && typeof text !== "number")
    throw badRequest("invalidValue", `The attribute ${name} must be a text.`);
  const trimmed = String(text).trim();
  if (trimmed.length > MAX_TEXT_CHARS)
    throw badRequest("invalidValue", `The attribute ${name} has more than ${MAX_TEXT_CHARS} characters.`);
  return trimmed;
}

/** Microsoft sends truth values as text, in any case. */
function readBoolean(value: unknown): boolean {
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const text = String(isObject(one) ? one["value"] : one).toLowerCase();
  if (text !== "true" && text !== "false") throw badRequest("invalidValue", "A truth value must be true or false.");
  return text === "true";
}

export function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

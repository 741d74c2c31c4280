import { hasTwoSpellings, listDialectMembers, type Members } from "../../dialects/members.ts";
import type { DialectId, JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { invalidRequest, type AppError } from "../../lib/app-error.ts";
import { repeatedMember } from "../../lib/text/json-members.ts";
import { snakeCase } from "../../lib/text/text.ts";

// Servers that ignore the case of names (as Go's JSON decoder does) take `Model` for `model`, and parsers disagree on
// which of two members with the same name counts: the upstream would answer another request than the one that is paid
// for.

/** How the names of one object are read. */
export interface Names {
  /** A name as the gateway reads it -> what it reads inside. */
  readonly read: ReadonlyMap<string, Names>;
  /** A name without its case -> the name as the gateway reads it. */
  readonly folded: ReadonlyMap<string, string>;
  /** A second spelling -> the first one; both at once are refused. */
  readonly second: ReadonlyMap<string, string>;
}

/** A parsed body with its bytes. */
export interface ReadBody {
  readonly json: JsonObject;
  readonly bytes: Buffer;
  /** Members of all objects in the bytes. */
  readonly members: number;
}

const compiled = new Map<DialectId, Names>();

/** Returns the names of a client protocol. */
export function getMemberNames(dialect: DialectId): Names {
  let names = compiled.get(dialect);
  if (!names) compiled.set(dialect, (names = compile(listDialectMembers(dialect), hasTwoSpellings(dialect))));
  return names;
}

export function compile(members: Members, isSpelledTwice = false): Names {
  const read = new Map<string, Names>();
  const second = new Map<string, string>();
  for (const [name, inside] of Object.entries(members)) {
    if (second.has(name)) continue;
    const names = compile(inside, isSpelledTwice);
    read.set(name, names);
    const other = snakeCase(name);
    if (!isSpelledTwice || other === name) continue;
    read.set(other, names);
    second.set(other, name);
  }
  return { read, second, folded: new Map([...read.keys()].map((name) => [fold(name), name])) };
}

/**
 * Throws `invalid_request` for a name that another reader may take for one that the gateway reads, naming both, and for
 * such a name that is repeated in its object.
 */
export function checkMembers({ json, bytes, members }: ReadBody, names: Names): void {
  if (countMembers(json, names, "") === members) return;
  const repeated = repeatedMember(bytes, (path) => isRead(path, names));
  if (repeated) throw invalidRequest(repeated, `${repeated} is in the body twice; send it once.`);
}

/** The same for one field of a form. */
export function checkField(name: string, { read, folded }: Names): void {
  const bare = name.replace(/\[\d*\]$/, "");
  const meant = read.has(bare) ? bare : folded.get(fold(bare));
  if (meant !== undefined && meant !== bare) throw ambiguous(bare, meant);
}

/** Checks all objects that are read, and counts the members of all objects. */
function countMembers(value: object, names: Names | undefined, path: string): number {
  if (Array.isArray(value)) return countItems(value, names, path);
  const object = value as JsonObject;
  let count = 0;
  for (const name in object) {
    count++;
    const inside = names && checkName(name, { object, names, path });
    const member = object[name];
    if (typeof member === "object" && member !== null)
      count += countMembers(member, inside, inside ? join(path, name) : "");
  }
  return count;
}

function countItems(items: readonly JsonValue[], names: Names | undefined, path: string): number {
  let count = 0;
  for (const item of items) if (typeof item === "object" && item !== null) count += countMembers(item, names, path);
  return count;
}

interface MemberOwner {
  readonly object: JsonObject;
  readonly names: Names;
  readonly path: string;
}

/** Returns the names that are read inside the member; undefined if none are. */
function checkName(name: string, { object, names, path }: MemberOwner): Names | undefined {
  const inside = names.read.get(name);
  if (inside === undefined) {
    const meant = names.folded.get(fold(name));
    if (meant !== undefined) throw ambiguous(join(path, name), join(path, meant));
    return undefined;
  }
  const first = names.second.size > 0 ? names.second.get(name) : undefined;
  if (first !== undefined && Object.hasOwn(object, first)) throw ambiguous(join(path, name), join(path, first));
  return inside.read.size > 0 ? inside : undefined;
}

function isRead(path: readonly string[], names: Names): boolean {
  // Members that the gateway does not read are harmless, except in the outermost object, where providers read their
  // own.
  if (path.length === 1) return true;
  let at: Names | undefined = names;
  for (const name of path) at = at?.read.get(name);
  return at !== undefined;
}

function ambiguous(sent: string, read: string): AppError {
  const shown = sent.slice(0, 200);
  return invalidRequest(shown, `${shown} differs from ${read} only in its spelling; send ${read}.`);
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Folds case like readers that also fold letters such as the long s. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

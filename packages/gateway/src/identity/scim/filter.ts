import { badRequest, type ScimError } from "./scim-error.ts";

/** Filters of RFC 7644, section 3.4.2.2, as far as directories use them. */

export type Comparison = "eq" | "ne" | "co" | "sw" | "ew";
type Literal = string | number | boolean | null;

export type Filter =
  | { readonly kind: "and" | "or"; readonly left: Filter; readonly right: Filter }
  | { readonly kind: "not"; readonly filter: Filter }
  | { readonly kind: "present"; readonly path: string }
  | { readonly kind: "compare"; readonly path: string; readonly comparison: Comparison; readonly value: Literal };

const MAX_CHARS = 2_000;
const MAX_DEPTH = 20;
const COMPARISONS: ReadonlySet<string> = new Set<Comparison>(["eq", "ne", "co", "sw", "ew"]);
/** Text in quotes, brackets, or a run of other characters. */
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+))/y;

interface Reader {
  readonly tokens: readonly string[];
  at: number;
  depth: number;
}

/** Parses a filter; throws `invalidFilter` for everything that is none. */
export function parseFilter(text: string): Filter {
  if (text.length > MAX_CHARS) throw refuse(`has more than ${MAX_CHARS} characters`);
  const reader = { tokens: split(text), at: 0, depth: 0 };
  const filter = readOr(reader);
  if (reader.at < reader.tokens.length) throw refuse(`has more after its end: ${reader.tokens[reader.at]}`);
  return filter;
}

function refuse(reason: string): ScimError {
  return badRequest("invalidFilter", `The filter ${reason}.`);
}

function split(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const found = TOKEN.exec(text);
    if (!found) throw refuse("has a text without an end");
    tokens.push(found[1] ?? found[2] ?? found[3] ?? "");
  }
  return tokens;
}

function peek({ tokens, at }: Reader): string {
  return tokens[at] ?? "";
}

function take(reader: Reader): string {
  const token = peek(reader);
  if (token === "") throw refuse("ends too early");
  reader.at += 1;
  return token;
}

function takeWord(reader: Reader, word: string): boolean {
  if (peek(reader).toLowerCase() !== word) return false;
  reader.at += 1;
  return true;
}

function readOr(reader: Reader): Filter {
  if ((reader.depth += 1) > MAX_DEPTH) throw refuse("is nested too deeply");
  let left = readAnd(reader);
  while (takeWord(reader, "or")) left = { kind: "or", left, right: readAnd(reader) };
  reader.depth -= 1;
  return left;
}

function readAnd(reader: Reader): Filter {
  let left = readOne(reader);
  while (takeWord(reader, "and")) left = { kind: "and", left, right: readOne(reader) };
  return left;
}

function readOne(reader: Reader): Filter {
  if (takeWord(reader, "(")) return closeAfter(reader, ")", readOr(reader));
  if (takeWord(reader, "not")) {
    if (!takeWord(reader, "(")) throw refuse("has a not without brackets");
    return { kind: "not", filter: closeAfter(reader, ")", readOr(reader)) };
  }
  const path = readPath(reader);
  const operator = take(reader).toLowerCase();
  if (operator === "pr") return { kind: "present", path };
  if (!isComparison(operator)) throw refuse(`has an operator that is not supported: ${operator}`);
  return { kind: "compare", path, comparison: operator, value: readLiteral(take(reader)) };
}

function isComparison(text: string): text is Comparison {
  return COMPARISONS.has(text);
}

function closeAfter<T>(reader: Reader, bracket: string, value: T): T {
  if (!takeWord(reader, bracket)) throw refuse("has a bracket without an end");
  return value;
}

/** Returns the path in small letters; a condition on the type of an e-mail is part of it. */
function readPath(reader: Reader): string {
  const name = take(reader).toLowerCase();
  if (!/^[a-z$][\w$.:-]*$/.test(name)) throw refuse(`has no attribute where one is needed: ${name}`);
  if (!takeWord(reader, "[")) return name;
  const inner = closeAfter(reader, "]", readOr(reader));
  const isType = inner.kind === "compare" && inner.path === "type" && inner.comparison === "eq";
  if (!isType) throw refuse("has a condition that is not supported");
  const member = peek(reader).startsWith(".") ? take(reader).toLowerCase() : "";
  return `${name}[${String(inner.value).toLowerCase()}]${member}`;
}

function readLiteral(token: string): Literal {
  try {
    const value: unknown = JSON.parse(token.startsWith('"') ? token : token.toLowerCase());
    if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value as Literal;
  } catch {
    // The text below says what is wrong.
  }
  throw refuse(`has no value where one is needed: ${token}`);
}

/** How the attributes of a resource are read and compared. */
export interface Attribute<T> {
  /** True if case counts. */
  readonly isExact: boolean;
  read(resource: T): readonly unknown[];
}

export type Attributes<T> = Readonly<Record<string, Attribute<T>>>;

/** Returns whether a resource matches; throws `invalidFilter` for attributes that cannot be filtered by. */
export function matchesFilter<T>(filter: Filter, resource: T, attributes: Attributes<T>): boolean {
  switch (filter.kind) {
    case "and":
      return matchesFilter(filter.left, resource, attributes) && matchesFilter(filter.right, resource, attributes);
    case "or":
      return matchesFilter(filter.left, resource, attributes) || matchesFilter(filter.right, resource, attributes);
    case "not":
      return !matchesFilter(filter.filter, resource, attributes);
    case "present":
      return findAttribute(filter.path, attributes).read(resource).length > 0;
    case "compare":
      return compare(filter, resource, findAttribute(filter.path, attributes));
  }
}

/** Throws `invalidFilter` if the filter names an attribute that cannot be filtered by. */
export function checkFilter<T>(filter: Filter, attributes: Attributes<T>): void {
  switch (filter.kind) {
    case "and":
    case "or":
      checkFilter(filter.left, attributes);
      return checkFilter(filter.right, attributes);
    case "not":
      return checkFilter(filter.filter, attributes);
    default:
      findAttribute(filter.path, attributes);
  }
}

function findAttribute<T>(path: string, attributes: Attributes<T>): Attribute<T> {
  const found = Object.hasOwn(attributes, path) ? attributes[path] : undefined;
  if (!found) throw refuse(`names an attribute that cannot be searched: ${path}`);
  return found;
}

function compare<T>(
  { comparison, value }: Extract<Filter, { kind: "compare" }>,
  resource: T,
  attribute: Attribute<T>,
): boolean {
  const fold = (one: unknown) => (attribute.isExact ? String(one) : String(one).toLowerCase());
  const values = attribute.read(resource).map(fold);
  const wanted = fold(value);
  if (comparison === "ne") return !values.includes(wanted);
  return values.some((one) => {
    if (comparison === "eq") return one === wanted;
    if (comparison === "co") return one.includes(wanted);
    return comparison === "sw" ? one.startsWith(wanted) : one.endsWith(wanted);
  });
}

/** Returns the value that an attribute must equal for the filter to match; undefined if there is none. */
export function findRequired(filter: Filter, path: string): string | undefined {
  if (filter.kind === "and") return findRequired(filter.left, path) ?? findRequired(filter.right, path);
  if (filter.kind !== "compare" || filter.comparison !== "eq" || filter.path !== path) return undefined;
  return typeof filter.value === "string" ? filter.value : undefined;
}

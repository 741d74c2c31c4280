import { fill, nearest, REASONS, withoutCompatibleMembers, type Endpoint } from "@fairway/wire";
import type * as z from "zod/mini";
import { Refusal } from "../lib/refusal.ts";

type Schema = NonNullable<Endpoint["body"]>;
type Issue = z.core.$ZodIssue;

/** Parses path parameters; an invalid one is `invalid_parameter`. */
export function parseParams(schema: Schema | undefined, params: unknown): unknown {
  if (!schema) return undefined;
  const parsed = schema.safeParse(params);
  if (!parsed.success) throw new Refusal("invalid_parameter");
  return parsed.data;
}

/**
 * Parses query or body; the first error is reported as `invalid_field` with the member and the reason, or as
 * `invalid_parameter` if no reason fits.
 */
export function parseInput(schema: Schema | undefined, input: unknown): unknown {
  if (!schema) return undefined;
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  // A misspelled member comes first, because it explains why another one is missing.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (!issue) throw new Refusal("invalid_parameter");
  throw buildRefusal(schema, issue);
}

/** Removes what consoles of compatible gateways add to a body; any other unknown member is `invalid_field`. */
export function parseBody({ name, body: schema }: Endpoint, body: unknown): unknown {
  if (!schema) return undefined;
  const known = Object.keys(bare(schema).shape ?? {});
  const cleaned = withoutCompatibleMembers(name, body, known);
  if ("fault" in cleaned) throw refuseField(cleaned.fault.path.join("."), cleaned.fault.reason);
  return parseInput(schema, cleaned.body);
}

/** Returns a query string as an object: a name given twice becomes a list. */
export function queryObject(search: string): Record<string, string | string[]> {
  const query = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(search)) {
    if (name === "__proto__") continue;
    const known = query[name];
    if (known === undefined) query[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else query[name] = [known, value];
  }
  return query;
}

function refuseField(field: string, reason: string): Refusal {
  return new Refusal("invalid_field", { field, values: { field, reason } });
}

/** Refuses the first unknown member, and names the known one that it may stand for. */
function refuseUnknown(schema: Schema, { path, keys }: Issue & { code: "unrecognized_keys" }): Refusal {
  const [key = ""] = keys;
  const known = Object.keys(descend(schema, path)?.shape ?? {});
  const near = nearest(key, known);
  const reason = near === undefined ? REASONS.unknown : fill(REASONS.misspelt, { near });
  return refuseField([...path.filter((part) => typeof part !== "number"), key].join(".").slice(0, 128), reason);
}

function buildRefusal(schema: Schema, issue: Issue): Refusal {
  if (issue.code === "unrecognized_keys") return refuseUnknown(schema, issue);
  const names = issue.path.filter((part) => typeof part !== "number").map(String);
  const field = names.join(".");
  const reason = findReason(schema, issue);
  if (reason === undefined || field === "") return new Refusal("invalid_parameter", field === "" ? {} : { field });
  return refuseField(field, reason);
}

const OWN_REASONS: ReadonlySet<string> = new Set(Object.values(REASONS));

/** A schema may name its reason itself: whether a number is whole is checked later, but it is read as an integer. */
function findReason(schema: Schema, issue: Issue): string | undefined {
  if (OWN_REASONS.has(issue.message)) return issue.message;
  if (issue.code === "invalid_value" && issue.message === sayChoices(issue.values)) return issue.message;
  if (issue.code === "invalid_type") return typeReason(schema, issue);
  if (issue.code === "too_big") {
    if (issue.origin === "string") return fill(REASONS.tooLong, { n: String(issue.maximum) });
    return isNumeric(issue.origin) ? fill(REASONS.atMost, { n: String(issue.maximum) }) : undefined;
  }
  if (issue.code === "too_small" && isNumeric(issue.origin)) return fill(REASONS.atLeast, { n: String(issue.minimum) });
  return undefined;
}

function sayChoices(values: readonly unknown[]): string {
  return fill(REASONS.choice, { names: values.join(", ") });
}

function isNumeric(origin: string): boolean {
  return origin === "number" || origin === "int" || origin === "bigint";
}

function typeReason(schema: Schema, issue: Issue & { code: "invalid_type" }): string | undefined {
  const target = descend(schema, issue.path);
  if (issue.path.some((part) => typeof part === "number") || target?.type === "array") {
    return isNumberList(schema, issue.path) ? REASONS.integers : REASONS.strings;
  }
  if (issue.expected === "number" && target?.format === "safeint") return REASONS.integer;
  return TYPE_REASONS[issue.expected];
}

const TYPE_REASONS: Readonly<Record<string, string>> = {
  string: REASONS.string,
  boolean: REASONS.boolean,
  int: REASONS.integer,
  number: REASONS.number,
  object: REASONS.object,
  record: REASONS.object,
};

interface Definition {
  readonly type: string;
  readonly format?: string;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly element?: Schema;
  readonly innerType?: Schema;
  readonly in?: Schema;
}

/** Returns the definition at a path, without optional, default and pipe wrappers. */
function descend(schema: Schema, path: readonly PropertyKey[]): Definition | undefined {
  let definition = bare(schema);
  for (const part of path) {
    const next = typeof part === "number" ? definition?.element : definition?.shape?.[String(part)];
    if (!next) return undefined;
    definition = bare(next);
  }
  return definition;
}

function bare(schema: Schema): Definition {
  let definition = schema._zod.def as unknown as Definition;
  for (let inner = definition.innerType ?? definition.in; inner; inner = definition.innerType ?? definition.in) {
    definition = inner._zod.def as unknown as Definition;
  }
  return definition;
}

function isNumberList(schema: Schema, path: readonly PropertyKey[]): boolean {
  const list = descend(
    schema,
    path.filter((part) => typeof part !== "number"),
  );
  return list?.element !== undefined && bare(list.element).type === "number";
}

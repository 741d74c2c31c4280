import { badRequest } from "./scim-error.ts";

export interface PatchOperation {
  readonly op: "add" | "remove" | "replace";
  /** "" = none. */
  readonly path: string;
  readonly value: unknown;
}

const MAX_OPERATIONS = 1_000;
const MAX_PATH_CHARS = 500;

/** Reads the operations of a PATCH; their names are in any case. */
export function readPatch(body: Readonly<Record<string, unknown>>): readonly PatchOperation[] {
  const member = Object.keys(body).find((name) => name.toLowerCase() === "operations");
  const operations: unknown = member === undefined ? undefined : body[member];
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_OPERATIONS)
    throw badRequest("invalidSyntax", `A PATCH needs a list Operations with 1 to ${MAX_OPERATIONS} entries.`);
  return operations.map(readOperation);
}

function readOperation(one: unknown): PatchOperation {
  const { op, path = "", value } = (typeof one === "object" && one !== null ? one : {}) as Record<string, unknown>;
  const name = typeof op === "string" ? op.toLowerCase() : "";
  if (name !== "add" && name !== "remove" && name !== "replace")
    throw badRequest("invalidSyntax", "An operation is add, remove or replace.");
  if (typeof path !== "string" || path.length > MAX_PATH_CHARS)
    throw badRequest("invalidPath", "The path of an operation must be a text.");
  return { op: name, path: path.trim(), value };
}

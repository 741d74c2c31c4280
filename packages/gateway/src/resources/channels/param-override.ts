import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";

/** A parsed text of `param_override`: members that replace those of the body. */
export interface ParamOverride {
  readonly members: JsonObject;
  /** Descriptions of operations that this gateway does not support. */
  readonly lost: readonly string[];
}

/**
 * Returns true if the override has a list of steps, which compatible gateways also write; it would otherwise be sent as
 * a member of that name.
 */
export function hasOperations(override: JsonObject): boolean {
  return Array.isArray(override["operations"]);
}

/** Returns undefined if the text is not a JSON object. Steps that set a member become members. */
export function readParamOverride(text: string): ParamOverride | undefined {
  const override = parseObject(text);
  if (!override) return undefined;
  if (!hasOperations(override)) return { members: override, lost: [] };
  const { operations, ...members } = override;
  const lost: string[] = [];
  for (const [at, operation] of (operations as readonly unknown[]).entries()) {
    if (isPlainSet(operation)) members[operation.path] = operation.value;
    else lost.push(`operations[${at}]${formatMode(operation)}`);
  }
  return { members, lost };
}

function formatMode(operation: unknown): string {
  const mode = isObject(operation) ? operation["mode"] : undefined;
  return typeof mode === "string" ? ` (${mode})` : "";
}

interface PlainSet {
  readonly path: string;
  readonly value: JsonObject[string];
}

/** Returns true for an operation that sets one member of the body unconditionally. */
function isPlainSet(operation: unknown): operation is PlainSet {
  if (!isObject(operation) || operation["mode"] !== "set" || operation["value"] === undefined) return false;
  const { path, conditions, keep_origin: keepsOrigin } = operation;
  const isConditional = Array.isArray(conditions) && conditions.length > 0;
  return typeof path === "string" && /^[A-Za-z0-9_-]+$/.test(path) && !isConditional && keepsOrigin !== true;
}

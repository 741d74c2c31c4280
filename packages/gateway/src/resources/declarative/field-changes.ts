import type { FieldChange } from "@fairway/wire";
import { hinted } from "../../lib/text/secret-members.ts";
import type { Current, Fields, Kind } from "./kinds.ts";

const CHANGED = "(changed)";

export function fieldChange(
  { secrets, secretPath }: Kind<unknown>,
  field: string,
  current: Current | undefined,
  wanted: Fields,
): FieldChange {
  if (secrets.has(field)) return { field, new: CHANGED };
  const shown = (value: unknown) => hinted(value, secretPath?.(field) ?? [field]);
  return { field, ...(current && { old: shown(current.fields[field]) }), new: shown(wanted[field]) };
}

export function isSame(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** Returns JSON with sorted names: the order of members has no meaning. */
function canonical(value: unknown): string {
  const sorted = (_name: string, inner: unknown): unknown =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted) ?? "";
}

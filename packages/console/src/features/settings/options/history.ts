import { parseObject } from "../../../lib/text/json.ts";

/** One member of an object that a change touched; null if it did not exist before or after. */
export interface MemberChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

function parseMembers(text: string | null): ReadonlyMap<string, string> | undefined {
  const members = parseObject(text ?? "");
  return (
    members &&
    new Map(
      Object.entries(members).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
    )
  );
}

/** Returns the members that differ between two JSON objects; undefined unless both are objects. */
export function memberChanges(before: string | null, after: string | null): MemberChange[] | undefined {
  const [old, now] = [parseMembers(before), parseMembers(after)];
  if (!old || !now) return undefined;
  const names = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return names
    .map((name) => ({ name, before: old.get(name) ?? null, after: now.get(name) ?? null }))
    .filter((change) => change.before !== change.after);
}

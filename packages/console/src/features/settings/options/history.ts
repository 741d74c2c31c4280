/** One member of an object that a change touched; null where it was or is not there. */
export interface MemberChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

function membersOf(text: string | null): ReadonlyMap<string, string> | undefined {
  try {
    const parsed: unknown = JSON.parse(text ?? "");
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
    return new Map(
      Object.entries(parsed).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
    );
  } catch {
    return undefined;
  }
}

/** What differs between two objects as JSON, by name; undefined unless both are objects. */
export function memberChanges(before: string | null, after: string | null): MemberChange[] | undefined {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (!old || !now) return undefined;
  const names = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return names
    .map((name) => ({ name, before: old.get(name) ?? null, after: now.get(name) ?? null }))
    .filter((change) => change.before !== change.after);
}

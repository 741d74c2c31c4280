/** Parts of the management API that an access token can be limited to. */
export const SCOPE_AREAS = [
  "account",
  "users",
  "channels",
  "tokens",
  "billing",
  "logs",
  "tasks",
  "settings",
  "events",
  "teams",
] as const;
export type ScopeArea = (typeof SCOPE_AREAS)[number];

type Level = "read" | "write";
export type AccessScope = Level | `${ScopeArea}:${Level}`;

/** `write` includes `read`; a scope without an area covers all areas. */
export const ACCESS_SCOPES: readonly AccessScope[] = [
  "read",
  "write",
  ...SCOPE_AREAS.flatMap((area) => [`${area}:read`, `${area}:write`] as const),
];

/** Returns whether the scopes include the needed one; an empty list allows nothing. */
export function isInScope(scopes: readonly string[], needed: AccessScope): boolean {
  const [area = "", level = ""] = needed.split(":");
  const isCovered = (one: Level) => scopes.includes(one) || scopes.includes(`${area}:${one}`);
  return isCovered("write") || (level === "read" && isCovered("read"));
}

import type { Endpoint } from "../core/endpoint.ts";

/** Parts of the management API that an access token can be limited to. */
export const SCOPE_AREAS = ["account", "users", "channels", "tokens", "billing", "logs", "tasks", "settings"] as const;
type ScopeArea = (typeof SCOPE_AREAS)[number];

type Level = "read" | "write";
export type AccessScope = Level | `${ScopeArea}:${Level}`;

/** `write` includes `read`; without an area the scope covers all of them. */
export const ACCESS_SCOPES: readonly AccessScope[] = [
  "read",
  "write",
  ...SCOPE_AREAS.flatMap((area) => [`${area}:read`, `${area}:write`] as const),
];

/** By the segment after `/api`; what is not listed belongs to the settings. */
const AREA_OF: Readonly<Record<string, ScopeArea>> = {
  user: "account",
  oauth: "account",
  channel: "channels",
  group: "channels",
  models: "channels",
  token: "tokens",
  redemption: "billing",
  topup: "billing",
  budget: "billing",
  stripe: "billing",
  log: "logs",
  data: "logs",
  usage: "logs",
  statistics: "logs",
  task: "tasks",
  mj: "tasks",
};

/** The scope that an access token needs for a call; undefined if anyone may call. */
export function scopeNeeded(
  endpoint: Pick<Endpoint, "path" | "method" | "access" | "hasEffects">,
): `${ScopeArea}:${Level}` | undefined {
  const { path, method, access, hasEffects } = endpoint;
  if (access === "none" || access === "try" || access === "key") return undefined;
  const area = AREA_OF[path.split("/")[2] ?? ""] ?? "settings";
  const level: Level = method === "GET" && !hasEffects ? "read" : "write";
  return `${area === "account" && access !== "user" ? "users" : area}:${level}`;
}

/** An empty list is a token without limits. */
export function isInScope(scopes: readonly string[], needed: string | undefined): boolean {
  if (scopes.length === 0 || needed === undefined) return true;
  const [area = "", level = ""] = needed.split(":");
  const isCovered = (one: Level) => scopes.includes(one) || scopes.includes(`${area}:${one}`);
  return isCovered("write") || (level === "read" && isCovered("read"));
}

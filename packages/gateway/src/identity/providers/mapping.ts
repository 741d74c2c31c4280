import type { MappingRule } from "@fairway/wire";

export type Claims = Readonly<Record<string, unknown>>;

/** What rules give. */
export interface Grants {
  readonly role?: "user" | "admin";
  readonly group?: string;
}

export interface MappingResult {
  readonly grants: Grants;
  /** Numbers of the rules that gave them, from 1; 0 = none. */
  readonly roleRule: number;
  readonly groupRule: number;
}

/** Applies the rules to what a provider says of a person: for each kind of result the first rule that matches wins. */
export function evaluateMapping(rules: readonly MappingRule[], claims: Claims): MappingResult {
  const matching = rules
    .map((rule, index) => ({ rule, number: index + 1 }))
    .filter(({ rule }) => matches(rule, claims));
  const forRole = matching.find(({ rule }) => rule.role !== undefined);
  const forGroup = matching.find(({ rule }) => rule.group !== undefined);
  return {
    grants: {
      ...(forRole?.rule.role !== undefined && { role: forRole.rule.role }),
      ...(forGroup?.rule.group !== undefined && { group: forGroup.rule.group }),
    },
    roleRule: forRole?.number ?? 0,
    groupRule: forGroup?.number ?? 0,
  };
}

/** Returns the claims that rules read, for the time until the next sign-in. */
export function pickClaims(rules: readonly MappingRule[], claims: Claims): Claims {
  const names = new Set(rules.flatMap(({ when }) => [when.claim, when.claim.split(".")[0] ?? ""]));
  return Object.fromEntries(Object.entries(claims).filter(([name]) => names.has(name)));
}

function matches({ when }: MappingRule, claims: Claims): boolean {
  const value = findClaim(claims, when.claim);
  if (when.exists !== undefined) return isPresent(value) === when.exists;
  const texts = listTexts(value);
  const { equals, prefix, in: list } = when;
  if (equals !== undefined) return texts.includes(equals);
  if (prefix !== undefined) return texts.some((text) => text.startsWith(prefix));
  return list !== undefined && texts.some((text) => list.includes(text));
}

/** Returns the claim of that name; without one, dots lead into objects. */
export function findClaim(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function listTexts(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values
    .filter((one) => typeof one === "string" || typeof one === "number" || typeof one === "boolean")
    .map(String);
}

const GROUPS = "groups";

/**
 * Returns whether a rule reads the groups and the provider left them out because there are too many for a token, as
 * Microsoft does beyond 200.
 */
export function isIncomplete(rules: readonly MappingRule[], claims: Claims): boolean {
  if (!rules.some(({ when }) => when.claim === GROUPS) || Object.hasOwn(claims, GROUPS)) return false;
  const names = claims["_claim_names"];
  const isElsewhere = typeof names === "object" && names !== null && Object.hasOwn(names, GROUPS);
  return isElsewhere || isTrue(claims["hasgroups"]) || isPresent(claims["groups.link"]);
}

/** Some providers write truth values as text. */
export function isTrue(claim: unknown): boolean {
  return claim === true || claim === "true" || claim === 1 || claim === "1";
}

import { nearest, type ResourceKind } from "@fairway/wire";
import type { Verdict } from "./conditions.ts";
import type { Resource } from "./resources.ts";

/** Group of tokens that stands for the cheapest of those that their owner may use. */
const AUTO = "auto";
const RESOLVED: Verdict = { status: "True", reason: "Resolved", message: "The gateway has all groups that are named." };

/**
 * Returns whether the groups that a resource names exist; undefined if it names none. A resource may come before the
 * options that make its group, so a missing group prevents nothing else.
 */
export function buildGroupsVerdict(resource: Resource, known: Readonly<Record<string, unknown>>): Verdict | undefined {
  const named = listGroups(resource);
  if (named.length === 0) return undefined;
  const missing = named.filter((group) => !Object.hasOwn(known, group));
  if (missing.length === 0) return RESOLVED;
  const words = missing.map((group) => {
    const similar = nearest(group, Object.keys(known));
    return `${group.slice(0, 64)}${similar === undefined ? "" : ` (did you mean ${similar}?)`}`;
  });
  const message = `There is no group ${words.join(", ")}. The option GroupRatio makes groups; without it, this has no effect for them.`;
  return { status: "False", reason: "GroupNotFound", message };
}

/** Reads a spec without its schema, which the API server or the comparison has checked. */
function listGroups({ kind, object }: Resource): readonly string[] {
  const { groups, group, scope, subject } = (object.spec ?? {}) as Readonly<Record<string, unknown>>;
  const named: Readonly<Record<ResourceKind, readonly unknown[]>> = {
    Channel: isList(groups) ? groups : [],
    Token: [group],
    Budget: scope === "group" ? [subject] : [],
    OptionSet: [],
  };
  return named[kind].filter((one): one is string => typeof one === "string" && one !== "" && one !== AUTO);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

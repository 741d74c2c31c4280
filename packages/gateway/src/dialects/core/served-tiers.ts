// The tiers that an answer names. They may differ from the requested ones, and vendors bill the tier that served.
import { object, text } from "./read.ts";
import type { JsonObject } from "./types.ts";
import { TIER_MEMBERS, tierName } from "./vendor-extras.ts";

/** Kinds of tiers. A request may choose one tier of each kind. */
type TierKind = "service" | "speed" | "geo";

/** The tiers that served, as far as the answer names them; "" for a standard tier. */
export type ServedTiers = Readonly<Partial<Record<TierKind, string>>>;

const KINDS: Readonly<Record<string, TierKind>> = {
  service_tier: "service",
  serviceTier: "service",
  speed: "speed",
  inference_geo: "geo",
};
/** Values that repeat the request or do not say which tier served. */
const UNDECIDED = new Set(["", "auto", "not_available", "standard_only", "unspecified", "service_tier_unspecified"]);
/** Tiers by Vertex's traffic type, which is among its usage counts. */
const TRAFFIC: Readonly<Record<string, string>> = {
  ON_DEMAND: "",
  ON_DEMAND_PRIORITY: "priority",
  ON_DEMAND_FLEX: "flex",
};
const MARKS = [...Object.keys(TIER_MEMBERS), "trafficType"].map((name) => Buffer.from(`"${name}"`));

/** False for blocks of a stream that name no tier. */
export function mayNameTiers(blocks: Buffer): boolean {
  return MARKS.some((mark) => blocks.includes(mark));
}

/** Returns the tiers of a whole answer or of a stream event; they win over `before`. Undefined if none is named. */
export function servedTiers(answer: JsonObject, before?: ServedTiers): ServedTiers | undefined {
  const inner = object(answer, "message") ?? object(answer, "response");
  const places = [answer, object(answer, "usage"), object(answer, "usageMetadata"), inner, object(inner, "usage")];
  let found: Tiers | undefined;
  for (const place of places) if (place) found = readTiers(place, found);
  return found ? { ...before, ...found } : before;
}

type Tiers = Partial<Record<TierKind, string>>;

/** Adds the tiers of one object to those that were found before; nothing is created if there are none. */
function readTiers(place: JsonObject, before: Tiers | undefined): Tiers | undefined {
  let found = before;
  for (const member in TIER_MEMBERS) {
    const value = text(place, member);
    const kind = KINDS[member];
    if (value === undefined || kind === undefined || UNDECIDED.has(value.trim().toLowerCase())) continue;
    (found ??= {})[kind] = tierName(member, value);
  }
  const traffic = TRAFFIC[text(place, "trafficType") ?? ""];
  if (traffic !== undefined) (found ??= {}).service = traffic;
  return found;
}

/** Returns the tiers to bill: the tier that served or, if the answer names none, the requested one. */
export function billedTiers(asked: readonly string[], served: ServedTiers): string[] {
  const unsaid = asked.filter((tier) => served[classifyTier(tier)] === undefined);
  return [...unsaid, ...Object.values(served).filter((tier) => tier !== "")];
}

function classifyTier(tier: string): TierKind {
  if (tier.startsWith("geo_")) return "geo";
  return tier === "fast" ? "speed" : "service";
}

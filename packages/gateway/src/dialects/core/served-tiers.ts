// The tiers that an answer names: they may be others than the request asked for, and vendors bill what served.
import { object, text } from "./read.ts";
import type { JsonObject } from "./types.ts";
import { TIER_MEMBERS, tierName } from "./vendor-extras.ts";

/** What a tier is about. A request may choose one of each. */
type TierKind = "service" | "speed" | "geo";

/** The tiers that served, as far as the answer names them; "" for a standard one. */
export type ServedTiers = Readonly<Partial<Record<TierKind, string>>>;

const KINDS: Readonly<Record<string, TierKind>> = {
  service_tier: "service",
  serviceTier: "service",
  speed: "speed",
  inference_geo: "geo",
};
/** Repeats of the question, and values that say nothing about what served. */
const UNDECIDED = new Set(["", "auto", "not_available", "standard_only", "unspecified", "service_tier_unspecified"]);
/** Vertex names its tier among the counts. */
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

/** The tiers of a whole answer or of an event of a stream; later ones win over `before`. Undefined when none is named. */
export function servedTiers(answer: JsonObject, before?: ServedTiers): ServedTiers | undefined {
  const inner = object(answer, "message") ?? object(answer, "response");
  const places = [answer, object(answer, "usage"), object(answer, "usageMetadata"), inner, object(inner, "usage")];
  const found: Partial<Record<TierKind, string>> = {};
  for (const place of places) {
    if (!place) continue;
    for (const member in TIER_MEMBERS) {
      const value = text(place, member);
      const kind = KINDS[member];
      if (value === undefined || kind === undefined || UNDECIDED.has(value.trim().toLowerCase())) continue;
      found[kind] = tierName(member, value);
    }
    const traffic = TRAFFIC[text(place, "trafficType") ?? ""];
    if (traffic !== undefined) found.service = traffic;
  }
  return Object.keys(found).length === 0 ? before : { ...before, ...found };
}

/** The tiers to bill: what served, and what was asked where the answer says nothing. */
export function billedTiers(asked: readonly string[], served: ServedTiers): string[] {
  const unsaid = asked.filter((tier) => served[classifyTier(tier)] === undefined);
  return [...unsaid, ...Object.values(served).filter((tier) => tier !== "")];
}

function classifyTier(tier: string): TierKind {
  if (tier.startsWith("geo_")) return "geo";
  return tier === "fast" ? "speed" : "service";
}

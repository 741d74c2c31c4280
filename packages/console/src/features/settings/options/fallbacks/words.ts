import type { FallbackCause } from "@fairway/wire";
import type { en } from "../../locale/en.ts";
import type { NameFault, Obstacle } from "./fallback-lists.ts";

type Key = keyof typeof en;

/** The causes as labels of their buttons. */
export const CAUSES = {
  error: "causeError",
  context: "causeContext",
  content: "causeContent",
  budget: "causeBudget",
  limit: "causeLimit",
} as const satisfies Record<FallbackCause, Key>;

/** What happens to a call, by the cause that it is. */
export const HAPPENS = {
  error: "happensError",
  context: "happensContext",
  content: "happensContent",
  budget: "happensBudget",
  limit: "happensLimit",
} as const satisfies Record<FallbackCause, Key>;

export const NAME_FAULTS = {
  missing: "nameMissing",
  star: "nameStar",
  self: "nameSelf",
  repeated: "nameRepeated",
  full: "nameFull",
  exists: "nameExists",
} as const satisfies Record<NameFault, Key>;

export const OBSTACLES = {
  unserved: "unserved",
  unpriced: "unpriced",
  asked: "alreadyAsked",
  cause: "otherCause",
} as const satisfies Record<Obstacle, Key>;

import type { UsageDimension } from "@fairway/wire";

/** Returns what `calls` of an answer counts: requests of clients, or the attempts that a channel made for them. */
export function callsName(by: UsageDimension): "calls" | "attempts" {
  return by === "channel" ? "attempts" : "calls";
}

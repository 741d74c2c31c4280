import { CHANNEL_STATUS } from "@fairway/wire";
import type { ChannelRecord } from "../providers/core/types.ts";
import { mapModel } from "./model-mapping.ts";

type Mapped = Pick<ChannelRecord, "status" | "models" | "modelMapping">;

/**
 * Names that clients use and some channel maps, with what the upstreams get: the name itself where another channel
 * serves it unmapped. Channels that the system has disabled count, because a price must not change while they rest.
 */
export function mappedNames(channels: readonly Mapped[]): ReadonlyMap<string, readonly string[]> {
  const used = channels.filter(({ status }) => status !== CHANNEL_STATUS.disabledByHand);
  const targets = new Map<string, Set<string>>();
  for (const { models, modelMapping } of used)
    for (const model of models) if (modelMapping.has(model)) targets.set(model, new Set());
  if (targets.size === 0) return new Map();
  for (const { models, modelMapping } of used)
    for (const [model, found] of targets) if (models.has(model)) addTarget(found, modelMapping, model);
  return new Map([...targets].map(([model, found]) => [model, [...found]]));
}

/** A mapping without an end serves nothing. */
function addTarget(found: Set<string>, mapping: ReadonlyMap<string, string>, model: string): void {
  try {
    found.add(mapModel(mapping, model));
  } catch {
    // Calls are refused by the name of the fault; a price has nothing to say about it.
  }
}

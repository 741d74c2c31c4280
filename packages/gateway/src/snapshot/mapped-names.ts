import { CHANNEL_STATUS } from "@fairway/wire";
import type { MappedNames } from "../billing/pricing/mapped-price.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { pathUnlessCircular } from "./model-mapping.ts";

type Mapped = Pick<ChannelRecord, "status" | "models" | "modelMapping">;

/**
 * Returns the client names that some channel maps, with the steps to the name that each upstream gets; a path with only
 * the client name comes from a channel that serves it unmapped. Channels that the system has disabled count, because a
 * price must not change while they are disabled.
 */
export function mappedNames(channels: readonly Mapped[]): MappedNames {
  const used = channels.filter(({ status }) => status !== CHANNEL_STATUS.disabledByHand);
  const targets = new Map<string, Map<string, readonly string[]>>();
  for (const { models, modelMapping } of used)
    for (const model of models) if (modelMapping.has(model)) targets.set(model, new Map());
  if (targets.size === 0) return new Map();
  for (const { models, modelMapping } of used)
    for (const [model, found] of targets) {
      const path = models.has(model) ? pathUnlessCircular(modelMapping, model) : undefined;
      if (path) found.set(path.join("\n"), path);
    }
  return new Map([...targets].map(([model, found]) => [model, [...found.values()]]));
}

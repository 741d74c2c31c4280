import { CHANNEL_STATUS } from "@fairway/wire";
import type { ChannelRecord, ListedModel, ListedModels } from "../providers/core/types.ts";
import { pathUnlessCircular } from "./model-mapping.ts";

type Listing = Pick<ChannelRecord, "status" | "models" | "modelMapping" | "listed">;

/**
 * What upstreams list of the models that clients can name. Where several channels serve one, a client must fit into
 * each of them: the shortest limits count, and the inputs that all take.
 */
export function listedModels(channels: readonly Listing[]): ListedModels {
  const found = new Map<string, ListedModel>();
  for (const { status, models, modelMapping, listed } of channels) {
    if (status === CHANNEL_STATUS.disabledByHand || !listed || listed.size === 0) continue;
    for (const model of models) {
      const says = listed.get(pathUnlessCircular(modelMapping, model)?.at(-1) ?? model);
      if (says) found.set(model, narrower(found.get(model) ?? says, says));
    }
  }
  return found;
}

function narrower(a: ListedModel, b: ListedModel): ListedModel {
  const least = (member: "contextTokens" | "outputTokens") => {
    const known = [a[member], b[member]].filter((one) => one !== undefined);
    return known.length === 0 ? {} : { [member]: Math.min(...known) };
  };
  const common = (member: "input" | "output") => {
    const [mine, other] = [a[member] ?? b[member], b[member] ?? a[member]];
    return mine && other ? { [member]: mine.filter((one) => other.includes(one)) } : {};
  };
  return { ...least("contextTokens"), ...least("outputTokens"), ...common("input"), ...common("output") };
}

import { CHANNEL_STATUS } from "@fairway/wire";
import type { ListedModel, ListedModels } from "../providers/core/listed-model.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { pathUnlessCircular } from "./model-mapping.ts";

type Listing = Pick<ChannelRecord, "status" | "models" | "modelMapping" | "listed">;

/**
 * Returns the properties that upstreams list for the models that clients can name. If several channels serve a model, a
 * client must fit each of them: the lowest limits count, and only the inputs that all of them accept.
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

import { findByModel, type ChannelStrategy, type OptionValues } from "@fairway/wire";

/** How channels of one priority share the requests of a model. */
export interface BalancingPolicy {
  strategyFor(model: string): ChannelStrategy;
}

/** Undefined while every model is drawn by weight: then nothing is measured or counted. */
export function resolveBalancingPolicy({
  ChannelStrategy: usual,
  ChannelStrategies: byModel,
}: OptionValues): BalancingPolicy | undefined {
  const isPlain = usual === "weight" && Object.values(byModel).every((strategy) => strategy === "weight");
  return isPlain ? undefined : { strategyFor: (model) => findByModel(byModel, model) ?? usual };
}

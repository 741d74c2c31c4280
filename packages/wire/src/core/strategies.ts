/** How a channel is chosen among those of one priority. */
export const CHANNEL_STRATEGIES = ["weight", "least_busy", "latency", "cost"] as const;
export type ChannelStrategy = (typeof CHANNEL_STRATEGIES)[number];

/** Strategies by model name, prefix with a trailing `*`, or `*`. */
export type StrategyTable = Readonly<Record<string, ChannelStrategy>>;

export function isChannelStrategy(value: unknown): value is ChannelStrategy {
  return (CHANNEL_STRATEGIES as readonly unknown[]).includes(value);
}

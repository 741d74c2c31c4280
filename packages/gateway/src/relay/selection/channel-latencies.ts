import type { Clock } from "../../lib/clock.ts";

/**
 * What was measured: milliseconds to the first content of a stream, or milliseconds per output token of a whole answer.
 * The two have different scales, so each is compared with its own kind only.
 */
type LatencyKind = "stream" | "whole";

/** Moving averages of this process, by channel and model. Other replicas measure for themselves. */
export interface ChannelLatencies {
  observe(channelId: number, model: string, kind: LatencyKind, ms: number): void;
  /**
   * Returns a function that estimates a channel among those given; undefined = nothing is known of any of them. A
   * channel without measurements counts as the median, so that it gets tried.
   */
  compare(
    channels: readonly { readonly id: number }[],
    model: string,
    kind: LatencyKind,
  ): (channelId: number) => number | undefined;
  /** Called when the channel has another upstream. */
  forget(channelId: number): void;
}

/** Weight of a new measurement. */
const ALPHA = 0.2;
/** After this long without a measurement, an average counts half, and the median the other half. */
const HALF_LIFE_MS = 60_000;
/** After this long it is not known at all; only then can a slow channel that nothing reaches show that it is fast again. */
const FORGET_MS = 5 * HALF_LIFE_MS;

interface Average {
  ms: number;
  at: number;
}

export function createChannelLatencies(clock: Clock): ChannelLatencies {
  /** By kind and model, then by channel; models are those that channels list, so the number is bounded. */
  const tables = new Map<string, Map<number, Average>>();
  return {
    observe(channelId, model, kind, ms) {
      const name = buildName(kind, model);
      let table = tables.get(name);
      if (!table) tables.set(name, (table = new Map<number, Average>()));
      const now = clock.now();
      const known = table.get(channelId);
      if (!known || now - known.at > FORGET_MS) table.set(channelId, { ms, at: now });
      else Object.assign(known, { ms: known.ms + ALPHA * (ms - known.ms), at: now });
    },
    compare(channels, model, kind) {
      const table = tables.get(buildName(kind, model));
      if (!table) return () => undefined;
      const now = clock.now();
      const findKnown = (id: number) => {
        const average = table.get(id);
        return average && now - average.at <= FORGET_MS ? average : undefined;
      };
      const known = channels.map(({ id }) => findKnown(id)?.ms).filter((ms) => ms !== undefined);
      const median = findMedian(known);
      if (median === undefined) return () => undefined;
      return (id) => {
        const average = findKnown(id);
        if (!average) return median;
        return median + (average.ms - median) * 0.5 ** ((now - average.at) / HALF_LIFE_MS);
      };
    },
    forget(channelId) {
      for (const table of tables.values()) table.delete(channelId);
    },
  };
}

/** Returns the lower of the two middle values, so that one slow channel does not make unknown ones look slow. */
function findMedian(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

function buildName(kind: LatencyKind, model: string): string {
  return `${kind} ${model}`;
}

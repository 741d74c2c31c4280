import type { Clock } from "../../lib/clock.ts";

/** Channels whose upstreams recently reported more usage than their answers can have cost, as this process saw it. */
export interface UsageDoubts {
  doubt(channelId: number, keyIndex: number, model: string): void;
  recent(): UsageDoubt[];
}

export interface UsageDoubt {
  readonly channelId: number;
  readonly keyIndex: number;
  readonly model: string;
  /** Answers since the first of these reports. */
  readonly answers: number;
}

const REMEMBERED_MS = 3_600_000;
const MOST = 1_000;

export function createUsageDoubts(clock: Clock): UsageDoubts {
  const known = new Map<string, UsageDoubt & { readonly until: number }>();
  return {
    doubt(channelId, keyIndex, model) {
      const name = `${channelId} ${keyIndex} ${model}`;
      const before = known.get(name);
      if (!before && known.size >= MOST) return;
      const answers = before && before.until > clock.now() ? before.answers + 1 : 1;
      known.set(name, { channelId, keyIndex, model, answers, until: clock.now() + REMEMBERED_MS });
    },
    recent() {
      for (const [name, { until }] of known) if (until <= clock.now()) known.delete(name);
      return [...known.values()];
    },
  };
}

import { CHANNEL_STATUS, type ChannelHealth, type ChannelKey } from "@fairway/wire";

type KeyTrouble = "open" | "half-open" | "failing" | "resting" | "doubtful-usage" | "chat-only";

/** One upstream key with its stored data and what the answering replica knows about it. */
export interface KeyLine {
  readonly index: number;
  readonly hint: string;
  readonly status: ChannelKey["status"];
  readonly reason: string;
  readonly time: number;
  /** Worst first. */
  readonly troubles: readonly ChannelHealth[];
}

const ORDER: readonly KeyTrouble[] = ["open", "half-open", "failing", "resting", "doubtful-usage", "chat-only"];

/** Sorts keys with trouble first, then disabled ones, then the others by position. */
export function keyLines(channelId: number, keys: readonly ChannelKey[], health: readonly ChannelHealth[]): KeyLine[] {
  const own = health.filter(({ channel_id: id }) => id === channelId);
  const lines = keys.map(({ index, ...key }) => ({
    index,
    ...key,
    troubles: own
      .filter((one) => one.key_index === index)
      .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)),
  }));
  return lines.toSorted((a, b) => rank(a) - rank(b) || a.index - b.index);
}

function rank({ troubles: [worst], status }: KeyLine): number {
  if (worst) return ORDER.indexOf(worst.state);
  return status === CHANNEL_STATUS.enabled ? ORDER.length + 1 : ORDER.length;
}

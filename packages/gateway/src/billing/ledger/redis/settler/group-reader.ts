import { type Connection, RedisUnavailable, type RedisClient } from "../../../../redis/client.ts";
import type { StreamEntry } from "./batch.ts";

/** Reads all charge streams as one consumer of their group. */
export interface GroupReader {
  /** Waits up to `ms` for new entries, at most `count` of each stream. */
  read(count: number, ms: number): Promise<ReadStream[]>;
  /** Returns entries that were delivered to this consumer and not acknowledged. */
  mine(count: number): Promise<ReadStream[]>;
  close(): void;
}

export type ReadStream = readonly [key: string, entries: readonly StreamEntry[]];

export interface GroupReaderSettings {
  readonly redis: RedisClient;
  readonly group: string;
  readonly consumer: string;
  readonly keys: readonly string[];
  /** Called when Redis may have delivered entries that did not arrive. */
  readonly onDoubt: () => void;
}

const TIMEOUT_MS = 5_000;
const DEAD_AFTER_MS = 15_000;

/** Creates the reader for a single server, on which one read waits for all streams. */
export function createGroupReader({ redis, group, consumer, keys, onDoubt }: GroupReaderSettings): GroupReader {
  const reader: Connection = redis.open("settler", DEAD_AFTER_MS);
  reader.on("ready", onDoubt);
  let abandon: ((reason: Error) => void) | undefined;

  /**
   * Settles when the connection is closed: the client library never settles a command that waits for a reconnection
   * then.
   */
  const untilClosed = <T>(answer: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      abandon = reject;
      answer.then(resolve, reject);
    });
  const createGroups = () =>
    redis.send(
      keys.map((key) => ({ command: "xgroup", args: ["CREATE", key, group, "0", "MKSTREAM"] })),
      TIMEOUT_MS,
    );
  const readGroup = async (from: string, count: number, how: readonly (string | number)[]) => {
    const words = ["GROUP", group, consumer, "COUNT", count, ...how, "STREAMS", ...keys];
    const ask = () => untilClosed(reader.call("xreadgroup", ...words, ...keys.map(() => from)));
    const answer: unknown = await ask().catch(async (error: unknown) => {
      // The first reader creates the groups; an emptied Redis has none.
      if (!(error instanceof Error) || !/^(?:NOGROUP|UNBLOCKED)/.test(error.message)) throw error;
      await createGroups();
      return ask();
    });
    return (answer ?? []) as ReadStream[];
  };
  return {
    read: (count, ms) => readGroup(">", count, ["BLOCK", ms]),
    mine: (count) => readGroup("0", count, []),
    close() {
      reader.disconnect();
      abandon?.(new RedisUnavailable("the connection is closed", true));
    },
  };
}

import { setTimeout as pause } from "node:timers/promises";
import { RedisUnavailable, type ClusterReads } from "../../../../redis/client.ts";
import type { GroupReader, GroupReaderSettings, ReadStream } from "./group-reader.ts";

/** A blocking read covers one slot only, so these reads do not block and are repeated at this interval. */
const EVERY_MS = 100;
const TIMEOUT_MS = 1_000;

/**
 * Reads each stream separately, on one dedicated connection to each primary. An unavailable primary stops only the
 * streams of its slots; when it answers again, it may have delivered entries that did not arrive.
 */
export function createClusterReader(
  { redis, group, consumer, keys, onDoubt }: GroupReaderSettings,
  reads: ClusterReads = redis.cluster?.openReads("settler") ?? throwNoCluster(),
): GroupReader {
  const stopping = new AbortController();
  /** Streams whose last read was not answered. */
  const doubtful = new Set<string>();

  const ask = async (key: string, answer: unknown): Promise<unknown> => {
    if (!(answer instanceof Error && answer.message.startsWith("NOGROUP"))) return answer;
    // The first reader creates the group; an emptied Redis has none.
    const create = { command: "xgroup", args: ["CREATE", key, group, "0", "MKSTREAM"] };
    const [created] = await reads.sendEach([create], TIMEOUT_MS);
    return created instanceof RedisUnavailable ? created : undefined;
  };
  const readGroup = async (count: number, pickStartId: (key: string) => string): Promise<ReadStream[]> => {
    const words = ["GROUP", group, consumer, "COUNT", count, "STREAMS"];
    const calls = keys.map((key) => ({ command: "xreadgroup", args: [...words, key, pickStartId(key)] }));
    const first = await reads.sendEach(calls, TIMEOUT_MS);
    const answers = await Promise.all(keys.map((key, at) => ask(key, first[at])));
    return keys.flatMap((key, at) => parseStreams(key, answers[at]));
  };
  const parseStreams = (key: string, answer: unknown): ReadStream[] => {
    if (answer instanceof RedisUnavailable) doubtful.add(key);
    else if (answer instanceof Error) throw answer;
    else {
      doubtful.delete(key);
      return (answer ?? []) as ReadStream[];
    }
    return [];
  };

  return {
    async read(count, ms) {
      const until = performance.now() + ms;
      for (;;) {
        const before = new Set(doubtful);
        const streams = await readGroup(count, (key) => (before.has(key) ? "0" : ">"));
        if ([...before].some((key) => !doubtful.has(key))) onDoubt();
        // Entries that were delivered before are read by `mine`.
        const found = streams.filter(([key, entries]) => entries.length > 0 && !before.has(key));
        if (found.length > 0 || performance.now() + EVERY_MS > until || stopping.signal.aborted) return found;
        await pause(EVERY_MS, undefined, stopping).catch(() => undefined);
      }
    },
    mine: (count) => readGroup(count, () => "0"),
    close() {
      stopping.abort();
      reads.close();
    },
  };
}

function throwNoCluster(): never {
  throw new Error("this Redis is not a cluster");
}

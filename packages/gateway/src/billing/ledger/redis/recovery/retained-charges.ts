import type { RedisClient } from "../../../../redis/client.ts";
import { SHARDS } from "../../../../redis/keys.ts";
import type { RawDatabase } from "../../../../storage/engines/raw.ts";
import { bookedRequests } from "../../booking/booked-requests.ts";
import { readCharge } from "../../charge.ts";

/** Charges that Redis retains after the database has booked them, for a database that goes back. */
export interface RetainedCharges {
  /** Called when the database went back: the next replay books them again. */
  require(): void;
  /** Yields the texts of all of them, in parts, if they are required; each once. */
  read(): AsyncGenerator<readonly string[]>;
  /** Returns true if the database does not have the newest of them. */
  areMissing(): Promise<boolean>;
}

export interface RetainedChargesDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  /** 0 = Redis retains none. */
  readonly retainMs: number;
}

type Entry = readonly [id: string, fields: readonly string[]];

const AT_ONCE = 256;
const TIMEOUT_MS = 15_000;

export function createRetainedCharges({ redis, database, retainMs }: RetainedChargesDeps): RetainedCharges {
  let isRequired = false;
  const keys = Array.from({ length: SHARDS }, (_, shard) => redis.keys.retained(shard));
  return {
    require: () => void (isRequired = retainMs > 0),
    async *read() {
      if (!isRequired) return;
      for (const key of keys) {
        for (let from = "-"; from !== "";) {
          const entries = (await redis.sendOne(
            { command: "xrange", args: [key, from, "+", "COUNT", AT_ONCE] },
            TIMEOUT_MS,
          )) as readonly Entry[];
          yield entries.map(readText);
          from = entries.length < AT_ONCE ? "" : `(${entries.at(-1)?.[0]}`;
        }
      }
      isRequired = false;
    },
    async areMissing() {
      if (retainMs === 0) return false;
      const calls = keys.map((key) => ({ command: "xrevrange", args: [key, "+", "-", "COUNT", 1] }));
      const answers = await redis.send(calls, TIMEOUT_MS);
      const ids = answers.flatMap((answer) => {
        if (answer instanceof Error) throw answer;
        return (answer as readonly Entry[]).map((entry) => readCharge(readText(entry)).settlement.hold.requestId);
      });
      return ids.length > 0 && (await bookedRequests(database, ids)).size < ids.length;
    },
  };
}

function readText([, [, text = ""]]: Entry): string {
  return text;
}

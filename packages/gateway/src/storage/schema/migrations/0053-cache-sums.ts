import { bigint, index, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Sums of what prompt caches read, wrote and saved, by hour. */
export const cacheSums: Migration = {
  version: 53,
  name: "sums of prompt caches",
  steps: tables({
    cache_sums: {
      columns: {
        /** The account that paid. */
        user_id: bigint(),
        token_id: bigint(),
        channel_id: bigint(),
        model: text(255),
        /** The begin of the hour. */
        start: bigint(),
        requests: bigint(),
        /** Requests that read from a cache. */
        hits: bigint(),
        input_tokens: bigint(),
        cached_tokens: bigint(),
        written_tokens: bigint(),
        /** Quota units; below 0 where writing cost more than reading saved. */
        saved: bigint(),
        /** Quota units for the storage of caches that clients created. */
        storage: bigint(),
      },
      primaryKey: ["user_id", "token_id", "channel_id", "model", "start"],
      indexes: [index("start")],
    },
  }),
};

import { batchList } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";

const PHASES = ["creating", "open", "ended"] as const;
const EACH = 5;

/** The newest batches that still need a channel. */
export function runningBatchesQuery(channel: number) {
  return queryOptions({
    queryKey: queryKeys.batches.running(channel),
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        PHASES.map((phase) =>
          call(batchList, { query: { p: 0, page_size: EACH, channel_id: String(channel), phase }, signal }),
        ),
      );
      return pages.flat();
    },
  });
}

import { parseEvents } from "../../lib/sse.ts";
import { count, object, text } from "../read.ts";
import type { StreamPosition } from "../types.ts";

/**
 * Remembers where a Responses stream stands. Keeps two references per stream and reads them only when an error ends
 * it.
 */
export function trackResponses(): StreamPosition {
  let first: Buffer | undefined;
  let last: Buffer | undefined;
  return {
    feed(blocks) {
      if (blocks.length === 0) return;
      first ??= blocks;
      last = blocks;
    },
    options() {
      const created = first && parseEvents(first).find(({ data }) => text(data, "type") === "response.created");
      const latest = last && parseEvents(last).findLast(({ data }) => count(data, "sequence_number") !== undefined);
      const sequence = count(latest?.data, "sequence_number");
      return { sequence: sequence === undefined ? 0 : sequence + 1, response: object(created?.data, "response") };
    },
  };
}

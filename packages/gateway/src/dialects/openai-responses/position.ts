import { parseEvents } from "../../lib/text/sse.ts";
import { count, object, text } from "../core/read.ts";
import type { StreamPosition } from "../core/types.ts";

const BLANK_LINE = Buffer.from("\n\n");
const SMALL = 4096;

/**
 * Copies the first of many events, so that the bytes of the others can be freed; few bytes are returned as they are.
 */
function sliceFirstEvent(blocks: Buffer): Buffer {
  return blocks.length <= SMALL ? blocks : Buffer.from(blocks.subarray(0, blocks.indexOf(BLANK_LINE) + 2));
}

function sliceLastEvent(blocks: Buffer): Buffer {
  if (blocks.length <= SMALL) return blocks;
  const before = blocks.lastIndexOf(BLANK_LINE, blocks.length - 3);
  return Buffer.from(blocks.subarray(before < 0 ? 0 : before + 2));
}

/** Tracks the position of a Responses stream. Stores two events per stream and parses them only if an error ends it. */
export function trackResponses(): StreamPosition {
  let first: Buffer | undefined;
  let last: Buffer | undefined;
  return {
    feed(blocks) {
      if (blocks.length === 0) return;
      first ??= sliceFirstEvent(blocks);
      last = sliceLastEvent(blocks);
    },
    options() {
      const created = first && parseEvents(first).find(({ data }) => text(data, "type") === "response.created");
      const latest = last && parseEvents(last).findLast(({ data }) => count(data, "sequence_number") !== undefined);
      const sequence = count(latest?.data, "sequence_number");
      return { sequence: sequence === undefined ? 0 : sequence + 1, response: object(created?.data, "response") };
    },
  };
}

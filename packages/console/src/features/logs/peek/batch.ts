import * as z from "zod/mini";
import { parseJson } from "../../../lib/text/json.ts";

const count = z.catch(z.number(), 0);

/** What the row of a batch says about its requests. */
const Batch = z.object({
  items: z.number(),
  succeeded: z.number(),
  failed: count,
  expired: count,
  cancelled: count,
  unreadable: count,
  input_ratio: z.number(),
  output_ratio: z.number(),
  /** Units that the prices of batches saved. */
  saved: count,
});
export type BatchFacts = z.output<typeof Batch>;

const Other = z.object({ batch: Batch });

/** Returns the facts of a row's details; undefined for the row of a call. */
export function readBatch(other: string): BatchFacts | undefined {
  return Other.safeParse(parseJson(other)).data?.batch;
}

import { parseObject, type JsonObject } from "../../lib/text/json.ts";

/** How the content of the log row of a batch begins. */
export const BATCH_CONTENT = "Batch ";

/** The items that one log row of a batch stands for. */
export interface BatchedCalls {
  readonly succeeded: number;
  readonly failed: number;
}

/** Returns the items of a log row of a batch; undefined for the row of a call. */
export function readBatchedCalls(other: JsonObject): BatchedCalls | undefined {
  const batch = other["batch"];
  if (typeof batch !== "object" || batch === null || Array.isArray(batch)) return undefined;
  const [succeeded, failed] = [batch["succeeded"], batch["failed"]];
  return isCount(succeeded) && isCount(failed) ? { succeeded, failed } : undefined;
}

/** Returns the charged items of a row by its text; undefined for the row of a call. */
export function readChargedItems(other: string): number | undefined {
  return readBatchedCalls(parseObject(other) ?? {})?.succeeded;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

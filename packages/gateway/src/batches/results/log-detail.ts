import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";

/** How the content of the log row of a batch begins. */
export const BATCH_CONTENT = "Batch ";

/** The items that one log row of a batch stands for. */
export interface BatchedCalls {
  readonly succeeded: number;
  readonly failed: number;
}

/** Returns the items of a log row of a batch; undefined for the row of a call. */
export function readBatchedCalls(other: JsonObject): BatchedCalls | undefined {
  const batch = readDetail(other);
  const [succeeded, failed] = [batch?.["succeeded"], batch?.["failed"]];
  return isCount(succeeded) && isCount(failed) ? { succeeded, failed } : undefined;
}

/** Returns the charged items of a row by its text; undefined for the row of a call. */
export function readChargedItems(other: string): number | undefined {
  return readBatchedCalls(parseObject(other) ?? {})?.succeeded;
}

/** Returns the deposit that was taken for the items of a row. */
export function readDeposit(other: JsonObject): number | undefined {
  const deposit = readDetail(other)?.["deposit"];
  return isCount(deposit) ? deposit : undefined;
}

/** Says in one sentence what became of the batch; undefined for the row of a call. */
export function summarizeBatch(other: JsonObject): string | undefined {
  const detail = readDetail(other);
  const calls = readBatchedCalls(other);
  if (!detail || !calls) return undefined;
  const figure = (name: string) => (typeof detail[name] === "number" ? detail[name] : 0);
  const others = ["failed", "expired", "cancelled", "missing", "unreadable"].flatMap((name) =>
    figure(name) > 0 ? [`${figure(name)} ${name}`] : [],
  );
  const counts = [`${calls.succeeded} of ${figure("items")} requests answered`, ...others].join(", ");
  const rates = `at ${figure("input_ratio")} of the input and ${figure("output_ratio")} of the output rates`;
  return `The batch ended: ${counts}. Charged ${rates}.`;
}

function readDetail(other: JsonObject): JsonObject | undefined {
  const batch = other["batch"];
  return isObject(batch) ? batch : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
